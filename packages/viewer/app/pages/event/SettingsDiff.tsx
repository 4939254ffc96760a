/** What a call changed beside the messages, against the call that it continues. */
import { ConversationSettings } from "../../diff/ConversationSettings.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import { api } from "../../server/Client.ts"
import type { Conversation } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"

interface Props {
  readonly parent: string
  readonly conversation: Conversation
}

export const SettingsDiff = ({ conversation, parent }: Props) => {
  const { again, error, value } = useAnswer((signal) => api.getEventMessages({ event_id: parent }, { signal }), parent)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (value === undefined) return <Loading what="the call before" />
  return <ConversationSettings before={value} after={conversation} />
}
