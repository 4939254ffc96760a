/** The parts of a message, each as what it is. */
import type { Part, Step } from "../../server/Types.ts"
import { bytes, counted, sizeOf } from "../../text/Format.ts"
import { safeHref, safeImage } from "../../text/Links.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import { Duration } from "../Facts.tsx"
import { Text } from "../Text.tsx"
import { useSome } from "../useSome.tsx"
import { Fold } from "./Fold.tsx"
import * as ToolSteps from "./ToolSteps.ts"
import { Value } from "./Value.tsx"

export interface Shown {
  readonly isMarkdown: boolean
  readonly isThinkingOpen: boolean
  readonly areToolsOpen: boolean
}

const textField = (part: Part, name: string): string => Words.textOf(part[name])

interface ToolProps {
  readonly call: Part
  readonly result: Part | undefined
  readonly step: Step | undefined
  readonly isOpen: boolean
}

const toldTitle = "No message is known to answer this call: its answer is what the tool's span tells"

/** What the step of a tool says beside its answer. */
const StepSays = ({ isTold, step }: { readonly step: Step; readonly isTold: boolean }) => (
  <>
    {step.message !== null && (
      <p class={step.status === "error" ? "bad" : "hint"}>
        <Plain text={step.message} />
      </p>
    )}
    {isTold && (
      <p class="hint">
        {toldTitle}.{ToolSteps.isAnswerCut(step) && " Its end was cut when it was recorded."}
      </p>
    )}
  </>
)

/** A tool's call and what it answered, on one line. */
const Tool = ({ call, isOpen, result, step }: ToolProps) => {
  const answer = result === undefined ? undefined : Words.ofPart(result)
  const isTold = step !== undefined && result !== undefined && result === ToolSteps.answerOf(step)
  const isFailed = result?.["is_error"] === true || step?.status === "error"
  return (
    <Fold
      class="tool"
      isOpen={isOpen}
      summary={
        <>
          <Plain as="b" text={textField(call, "name")} />
          <Plain as="span" class="arguments" text={Words.argumentsLine(call["arguments"])} />
          {isFailed && <b class="bad">failed</b>}
          <span class="answer">
            {answer === undefined ? <i>no answer here</i> : <Plain text={Words.line(answer, 90)} />}
          </span>
          {isTold && (
            <span class="rebuilt" title={toldTitle}>
              from its span
            </span>
          )}
          {answer !== undefined && <small>{bytes(sizeOf(answer))}</small>}
          {step !== undefined && (
            <small>
              <Duration ms={step.duration_ms} />
            </small>
          )}
        </>
      }
    >
      {() => (
        <>
          <h3>Arguments</h3>
          <Value value={call["arguments"] ?? ""} />
          {answer !== undefined && (
            <>
              <h3>Answer</h3>
              <Answer part={result!} text={answer} />
            </>
          )}
          {step !== undefined && <StepSays step={step} isTold={isTold} />}
        </>
      )}
    </Fold>
  )
}

const Answers = ({ answers }: { readonly answers: ReadonlyArray<unknown> }) => {
  const [count, more] = useSome(answers.length)
  return (
    <>
      {answers
        .slice(0, count)
        .map((each) =>
          Words.isPart(each) ? <Single part={each} isMarkdown={false} isThinkingOpen /> : <Value value={each} />
        )}
      {more}
    </>
  )
}

/** An answer may hold parts, such as images. */
const Answer = ({ part, text }: { readonly part: Part; readonly text: string }) => {
  const response = part["response"]
  if (Array.isArray(response) && response.some((each) => Words.isPart(each) && each.type !== "text")) {
    return <Answers answers={response} />
  }
  return typeof response === "object" && response !== null && !Array.isArray(response) ? (
    <Value value={response} />
  ) : (
    <Text text={text} isMarkdown={false} first={4_000} />
  )
}

/** An image of a safe kind, or the name of what is there. */
const Media = ({ part }: { readonly part: Part }) => {
  const kind = textField(part, "mime_type") || textField(part, "modality") || "File"
  const content = textField(part, "content")
  const uri = textField(part, "uri")
  const src = content === "" ? safeImage(uri) : safeImage(`data:${kind};base64,${content}`)
  if (src !== undefined) return <img src={src} alt={`An image, ${kind}`} />
  const href = safeHref(uri)
  return (
    <p class="media">
      <Plain text={kind} />
      {content !== "" && `, ${bytes(Math.floor((content.length * 3) / 4))}`}
      {uri !== "" && (
        <>
          , not loaded:{" "}
          {href === undefined ? (
            <Plain text={uri.slice(0, 300)} />
          ) : (
            <a href={href} target="_blank" rel="noopener noreferrer">
              <Plain text={uri.slice(0, 300)} />
            </a>
          )}
        </>
      )}
      {textField(part, "file_id") !== "" && (
        <>
          , file <Plain as="code" text={textField(part, "file_id")} />
        </>
      )}
    </p>
  )
}

interface SingleProps {
  readonly part: Part
  readonly isMarkdown: boolean
  readonly isThinkingOpen: boolean
}

/** A part that is no call of a tool. */
const Single = ({ isMarkdown, isThinkingOpen, part }: SingleProps) => {
  switch (part.type) {
    case "text":
      return <Text text={textField(part, "content")} isMarkdown={isMarkdown} />
    case "reasoning": {
      const text = textField(part, "content")
      return (
        <Fold
          class="thinking"
          isOpen={isThinkingOpen}
          summary={
            <>
              <b>Thinking</b>
              <span class="arguments">
                {text === "" ? <i>hidden by the provider</i> : <Plain text={Words.line(text)} />}
              </span>
            </>
          }
        >
          {() => <Text text={text} isMarkdown={isMarkdown} />}
        </Fold>
      )
    }
    case "refusal":
      return (
        <div class="refusal">
          <b>Refused: </b>
          <Text text={textField(part, "refusal")} isMarkdown={isMarkdown} />
        </div>
      )
    case "tool_call_response":
      return (
        <Fold
          class="tool"
          isOpen={false}
          summary={
            <>
              <b>Answer of a tool</b>
              <Plain as="span" class="answer" text={Words.line(Words.ofPart(part))} />
            </>
          }
        >
          {() => <Answer part={part} text={Words.ofPart(part)} />}
        </Fold>
      )
    case "blob":
    case "uri":
    case "file":
      return <Media part={part} />
    default:
      return (
        <Fold class="tool" isOpen={false} summary={<Plain as="b" text={part.type} />}>
          {() => <Value value={part} />}
        </Fold>
      )
  }
}

/** What a model is told beside the words of people, in one line. */
const Instruction = ({ part, ...shown }: SingleProps) => {
  const text = Words.ofPart(part)
  return (
    <Fold
      class="instructions"
      isOpen={false}
      summary={
        <>
          <b>Instructions</b>
          <Plain as="span" class="arguments" text={Words.line(text)} />
          <small>{counted(Array.from(text).length, "character")}</small>
        </>
      }
    >
      {() => <Single part={part} {...shown} />}
    </Fold>
  )
}

interface Props extends Shown {
  readonly parts: ReadonlyArray<Part>
  readonly resultOf: (part: Part) => Part | undefined
  /** What tracing tells of a tool that was called. */
  readonly stepOf?: (part: Part) => Step | undefined
  /** Parts that are shown elsewhere. */
  readonly isElsewhere?: (part: Part) => boolean
  /** Which parts are instructions, from 0. */
  readonly instructions?: ReadonlyArray<number> | undefined
}

export const Parts = (props: Props) => {
  const { areToolsOpen, instructions = [], isElsewhere, isMarkdown, isThinkingOpen, parts, resultOf, stepOf } = props
  const instructing = new Set(instructions.map((index) => parts[index]))
  const own = isElsewhere === undefined ? parts : parts.filter((part) => !isElsewhere(part))
  const [count, more] = useSome(own.length)
  return (
    <>
      {own.slice(0, count).map((part, index) => {
        if (part.type === "tool_call")
          return <Tool key={index} call={part} result={resultOf(part)} step={stepOf?.(part)} isOpen={areToolsOpen} />
        if (instructing.has(part)) {
          return <Instruction key={index} part={part} isMarkdown={isMarkdown} isThinkingOpen={isThinkingOpen} />
        }
        return <Single key={index} part={part} isMarkdown={isMarkdown} isThinkingOpen={isThinkingOpen} />
      })}
      {more}
    </>
  )
}
