/** What was said last in a session, beside the list. */
import { Failed, Loading } from "../../parts/States.tsx"
import { Messages } from "../../parts/message/Messages.tsx"
import { Peek } from "../../parts/Peek.tsx"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"

/** Messages that are shown: the last. */
const lastMessages = 8

const read = (id: string) => async (signal: AbortSignal) => {
  const [session, { messages }] = await Promise.all([
    api.getSession({ session: id }, { signal }),
    api.listSessionMessages({ session: id, order: "desc", limit: lastMessages }, { signal })
  ])
  return { session, messages: messages.toReversed() }
}

export const SessionPeek = ({ close, id }: { readonly id: string; readonly close: () => void }) => {
  const { again, error, value } = useAnswer(read(id), id)
  const first = value?.messages[0]?.number ?? 1
  return (
    <Peek
      title={<Plain text={Words.title(value?.session.title ?? id)} />}
      href={Route.to(["sessions", id])}
      close={close}
    >
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="the session" />}
      {first > 1 && <p class="hint">{Format.count(first - 1)} messages before these</p>}
      {value !== undefined && <Messages messages={value.messages} />}
    </Peek>
  )
}
