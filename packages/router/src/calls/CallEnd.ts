/** The event of the end of a call whose answer came to another request. */
import * as Endings from "@tachograph/capture/Endings"
import type { Steps } from "@tachograph/core"
import { hash } from "node:crypto"
import * as CallOutput from "./CallOutput.ts"
import * as EventOfCall from "./EventOfCall.ts"
import type { PassedCall } from "./PassedCall.ts"

/** The event of a call whose answer has come by another request; none where it has not come, or came before. */
export function* make(
  call: PassedCall,
  { output: received }: { readonly output: Buffer | undefined },
  begun: EventOfCall.Begun
): Steps.Steps<EventOfCall.Recordable | "no-call" | "too-many-credentials"> {
  const { contentType, failureCode, interruption, method, rest, status } = call
  const asked = Endings.askedOf(method, rest)
  const known = asked === null ? undefined : begun.calls.find(begun.scope, asked)
  if (asked === null || received === undefined || known?.isEnded === true) return "no-call"
  const body = yield* EventOfCall.clean(received)
  const { api } = asked
  const output = yield* CallOutput.of({ api, rest, status, contentType, body, interruption, failureCode })
  const endedAtMs = Date.parse(call.occurredAt) + call.durationMs
  const answer = Endings.endIn(asked, known !== undefined, status, output.toString(), endedAtMs)
  if (answer === null) return "no-call"
  const { grouping, inputs, model, occurredAt } = known?.call ?? {
    grouping: {
      ...call.grouping,
      session: call.grouping.session ?? hash("sha256", Endings.seedOf(asked, answer))
    },
    inputs: Endings.inputsOf(asked),
    model: Endings.modelOf(answer),
    occurredAt: call.occurredAt
  }
  const draft = {
    ...{ api, inputs: Buffer.from(inputs), output, grouping, model, occurredAt },
    durationMs: known && endedAtMs - Date.parse(occurredAt),
    firstByteMs: undefined,
    recorded: { retrieved: true }
  }
  const written = yield* EventOfCall.write(call, draft)
  return written === undefined ? "too-many-credentials" : { body: written.body, ends: asked }
}
