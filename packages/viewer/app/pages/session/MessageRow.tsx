/** A message of the stream, with the answers of the tools that it calls. */
import { Damaged } from "../../parts/Damaged.tsx"
import { Parts, type Shown } from "../../parts/message/Parts.tsx"
import { roleClass } from "../../parts/message/roleClass.ts"
import type { Message, Part, Step } from "../../server/Types.ts"
import { Plain } from "../../text/Plain.tsx"
import type { Carried } from "./Carried.ts"
import type { Result } from "./StreamItems.ts"

interface Props extends Shown {
  readonly message: Message
  readonly results: ReadonlyMap<Part, Result>
  readonly answered: ReadonlySet<Part>
  readonly toolCalls: ReadonlyMap<Part, Step>
  readonly carried: Carried | undefined
}

export const MessageRow = ({ answered, carried, message, results, toolCalls, ...shown }: Props) => (
  <div class={roleClass(message.role)}>
    <div class="role">
      <Plain text={message.role} />
      <small>#{message.number}</small>
      {carried !== undefined && carried.times > 1 && (
        <small title={`${carried.times} calls sent this message, the last of them call ${carried.last}`}>
          sent {carried.times}×, to call {carried.last}
        </small>
      )}
    </div>
    <div class="said">
      <Parts
        parts={message.parts}
        resultOf={(part) => results.get(part)?.part}
        stepOf={(part) => toolCalls.get(part)}
        isElsewhere={(part) => answered.has(part)}
        instructions={message.instruction_parts}
        {...shown}
      />
      {message.is_damaged === true ? <Damaged /> : message.parts.length === 0 && <i class="nothing">says nothing</i>}
    </div>
  </div>
)
