/** What a call changed beside the messages, against the call that it continues. */
import { ToolsDiff } from "../../diff/ToolsDiff.tsx"
import { WordDiff } from "../../diff/WordDiff.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import { api } from "../../server/Client.ts"
import type { Conversation } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import { instructionsText } from "../../text/instructionsOf.ts"

const parametersOf = ({ parameters }: Conversation): string => JSON.stringify(parameters, undefined, 2)

interface Props {
  readonly parent: string
  readonly conversation: Conversation
}

export const SettingsDiff = ({ conversation, parent }: Props) => {
  const { again, error, value } = useAnswer((signal) => api.getEventMessages({ event_id: parent }, { signal }), parent)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (value === undefined) return <Loading what="the call before" />
  return (
    <div class="settings">
      <section>
        <h2>Instructions</h2>
        <WordDiff before={instructionsText(value)} after={instructionsText(conversation)} />
      </section>
      <section>
        <h2>Tools</h2>
        <ToolsDiff before={value.tools} after={conversation.tools} />
      </section>
      <section>
        <h2>Parameters</h2>
        <WordDiff before={parametersOf(value)} after={parametersOf(conversation)} />
      </section>
    </div>
  )
}
