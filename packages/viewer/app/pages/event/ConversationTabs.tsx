/** The tabs that read the call in normal form: all that it sent, what was answered, and its settings. */
import { instructionsOf } from "@tachograph/client/compare"
import { useState } from "preact/hooks"
import { Value } from "../../parts/message/Value.tsx"
import { Text } from "../../parts/Text.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { api } from "../../server/Client.ts"
import type { Call, Conversation } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import { firstMessages, Messages } from "../../parts/message/Messages.tsx"
import { NoAnswer } from "./NoAnswer.tsx"
import { SettingsDiff } from "./SettingsDiff.tsx"

/** Larger calls (bytes) are read when asked. */
const askedBytes = 4_000_000

interface Props {
  readonly call: Call
  readonly tab: "input" | "answer" | "settings"
  readonly isDiff: boolean
}

const readConversation = (id: string) => (signal: AbortSignal) => api.getEventMessages({ event_id: id }, { signal })

export const ConversationTabs = (props: Props) => {
  const [isAsked, setAsked] = useState(false)
  const { inputs_bytes, output_bytes } = props.call
  const bytes = inputs_bytes + output_bytes
  if (!isAsked && bytes > askedBytes) {
    return (
      <Empty title={`This call has ${Format.bytes(bytes)}`}>
        <button type="button" onClick={() => setAsked(true)}>
          Show it
        </button>
      </Empty>
    )
  }
  return <Loaded {...props} />
}

const Loaded = ({ call, isDiff, tab }: Props) => {
  const { again, error, value } = useAnswer(readConversation(call.event_id), call.event_id)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (value === undefined) return <Loading what="the call" />
  if (tab === "input") return <Input conversation={value} />
  if (tab === "answer")
    return value.output.length === 0 ? <NoAnswer call={call} /> : <Messages messages={value.output} />
  return isDiff && call.parent_event_id !== null ? (
    <SettingsDiff parent={call.parent_event_id} conversation={value} />
  ) : (
    <Settings conversation={value} />
  )
}

const Input = ({ conversation: { input } }: { readonly conversation: Conversation }) => {
  const [shown, setShown] = useState(firstMessages)
  if (input.length === 0) return <Empty title="The call sent no messages" />
  return (
    <>
      <p class="hint">All {Format.count(input.length)} messages that the model was sent, in their order.</p>
      <Messages messages={input.slice(0, shown)} />
      {shown < input.length && (
        <button type="button" class="more" onClick={() => setShown(shown + 4 * firstMessages)}>
          {Format.count(input.length - shown)} more
        </button>
      )}
    </>
  )
}

const Settings = ({ conversation }: { readonly conversation: Conversation }) => {
  const { parameters, tools } = conversation
  const instructions = instructionsOf(conversation)
  return (
    <div class="settings">
      <section>
        <h2>Instructions</h2>
        {instructions.length === 0 ? (
          <p class="hint">None.</p>
        ) : (
          instructions.map((part, index) => <Text key={index} text={Words.ofPart(part)} isMarkdown={false} />)
        )}
      </section>
      <section>
        <h2>Tools</h2>
        {tools.length === 0 && <p class="hint">None.</p>}
        {tools.map((tool, index) => (
          <details key={index} class="tool">
            <summary>
              <Plain as="b" text={Words.textOf(tool["name"]) || `tool ${index + 1}`} />
              <Plain as="span" class="arguments" text={Words.line(Words.textOf(tool["description"]))} />
            </summary>
            <div class="fold">
              <Value value={tool} />
            </div>
          </details>
        ))}
      </section>
      <section>
        <h2>Parameters</h2>
        <div class="fold">
          <Value value={parameters} />
        </div>
      </section>
    </div>
  )
}
