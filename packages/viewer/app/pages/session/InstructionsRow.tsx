/** The instructions of a call as one line, which opens: whole, or with the words that differ from those of the call before. */
import { instructionsText } from "@tachograph/client/compare"
import { WordDiff } from "../../diff/WordDiff.tsx"
import { Fold } from "../../parts/message/Fold.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import { Text } from "../../parts/Text.tsx"
import { api } from "../../server/Client.ts"
import type { Call } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"

interface Props {
  readonly call: Call
  readonly isMarkdown: boolean
}

/** The texts of the call before, where the instructions changed, and of the call. */
const read =
  ({ event_id, instructions_changed, parent_event_id }: Call) =>
  (signal: AbortSignal): Promise<ReadonlyArray<string>> =>
    Promise.all(
      [...(instructions_changed && parent_event_id !== null ? [parent_event_id] : []), event_id].map(async (event_id) =>
        instructionsText(await api.getEventMessages({ event_id }, { signal }))
      )
    )

const Opened = ({ call, isMarkdown }: Props) => {
  const { again, error, value } = useAnswer(read(call), call.event_id)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (value === undefined) return <Loading what="the instructions" />
  const [before, after] = value.length === 2 ? value : [undefined, value[0]!]
  return before === undefined ? (
    <Text text={after!} isMarkdown={isMarkdown} />
  ) : (
    <WordDiff before={before} after={after!} />
  )
}

export const InstructionsRow = ({ call, isMarkdown }: Props) => (
  <div class="message system">
    <div class="role" />
    <div class="said">
      <Fold
        class="instructions"
        isOpen={false}
        summary={
          <>
            <b>Instructions</b>
            {call.instructions_changed && <span class="warn">changed</span>}
            <small>
              {call.instruction_characters === 0
                ? "none"
                : Format.counted(call.instruction_characters ?? 0, "character")}
            </small>
          </>
        }
      >
        {() => <Opened call={call} isMarkdown={isMarkdown} />}
      </Fold>
    </div>
  </div>
)
