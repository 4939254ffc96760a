/** Messages of one call, of which each has its place. */
import { useMemo } from "preact/hooks"
import { Damaged } from "../Damaged.tsx"
import { pairsIn } from "./Pairs.ts"
import { Parts } from "./Parts.tsx"
import { roleClass } from "./roleClass.ts"
import type { Conversation, Part } from "../../server/Types.ts"
import * as Reading from "../../settings/Reading.ts"
import { Plain } from "../../text/Plain.tsx"

type Said = Conversation["input"][number] & {
  readonly number?: number | undefined
  readonly is_damaged?: true | undefined
  readonly instruction_parts?: ReadonlyArray<number> | undefined
}

/** Messages that are shown at first. */
export const firstMessages = 60

export const Messages = ({ messages }: { readonly messages: ReadonlyArray<Said> }) => {
  const reading = Reading.use()
  const { answers, results } = useMemo(() => pairsIn(messages), [messages])
  const isElsewhere = (part: Part) => answers.has(part)
  return (
    <>
      {messages.map((message, index) => {
        if (message.parts.length > 0 && message.parts.every(isElsewhere)) return null
        return (
          <div key={message.number ?? index} class={roleClass(message.role)}>
            <div class="role">
              <Plain text={message.role} />
              <small>#{message.number ?? index + 1}</small>
            </div>
            <div class="said">
              {message.is_damaged === true && <Damaged />}
              <Parts
                parts={message.parts}
                resultOf={(part) => results.get(part)?.part}
                isElsewhere={isElsewhere}
                instructions={message.instruction_parts}
                {...reading}
              />
            </div>
          </div>
        )
      })}
    </>
  )
}
