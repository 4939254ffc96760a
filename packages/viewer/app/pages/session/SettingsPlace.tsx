/** Where the instructions or the tools of a call begin to differ from those of the call before. */
import { instructionsOf } from "@tachograph/client/compare"
import { api } from "../../server/Client.ts"
import type { Call, Conversation } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import { firstDifference } from "../../text/firstDifference.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"

/** Larger calls (bytes) are not read for it. */
const maxBytes = 1_000_000

interface Props {
  readonly call: Call
  readonly parent: Call
  /** `noise`: instructions whose change counts nowhere, such as a line that a client changes with each call. */
  readonly of: "instructions" | "tools" | "noise"
}

const Character = ({ after, at }: { readonly after: string; readonly at: number | undefined }) =>
  at === undefined ? null : (
    <>
      {" "}
      at character {Format.count(at)} of {Format.count(Array.from(after).length)}
    </>
  )

const Noise = ({ at }: { readonly at: number | undefined }) =>
  at === undefined ? null : (
    <p class="warn">
      The client alone changed a line of its instructions, at character {Format.count(at)}: a provider that does not
      leave it out reads everything after that again.
    </p>
  )

/** The first tool that differs, by the name that it had before, or else has now. */
const Tool = ({ after, before }: { readonly before: Conversation; readonly after: Conversation }) => {
  const texts = [before, after].map(({ tools }) => tools.map((tool) => JSON.stringify(tool)))
  const index = (texts[0]!.length > texts[1]!.length ? texts[0]! : texts[1]!).findIndex(
    (_, at) => texts[0]![at] !== texts[1]![at]
  )
  const tool = before.tools[index] ?? after.tools[index]
  return tool === undefined ? null : (
    <>
      {" "}
      at tool {Format.count(index + 1)}, <Plain text={Words.line(Words.textOf(tool["name"]), 40)} />
    </>
  )
}

/** With noise: a provider reads it too. */
const sentText = (conversation: Conversation): string => instructionsOf(conversation).map(Words.ofPart).join("\n\n")

const Loaded = ({ call, of, parent }: Props) => {
  const { value } = useAnswer(
    (signal) => Promise.all([parent, call].map(({ event_id }) => api.getEventMessages({ event_id }, { signal }))),
    `${parent.event_id} ${call.event_id}`
  )
  const [before, after] = value ?? []
  if (before === undefined || after === undefined) return null
  if (of === "tools") return <Tool before={before} after={after} />
  const text = sentText(after)
  const at = firstDifference(sentText(before), text)
  return of === "noise" ? <Noise at={at} /> : <Character after={text} at={at} />
}

export const SettingsPlace = (props: Props) =>
  Math.max(props.call.inputs_bytes, props.parent.inputs_bytes) > maxBytes ? null : <Loaded {...props} />
