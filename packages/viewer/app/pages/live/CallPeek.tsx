/** What a call added, beside the list. */
import { FailedCall } from "../../parts/FailedCall.tsx"
import { Messages } from "../../parts/message/Messages.tsx"
import { Peek } from "../../parts/Peek.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import { useCall } from "../../server/useCall.ts"
import { Plain } from "../../text/Plain.tsx"

export const CallPeek = ({ close, id }: { readonly id: string; readonly close: () => void }) => {
  const { again, error, value } = useCall(id)
  return (
    <Peek title={<Plain text={value?.call.session ?? "Call"} />} href={Route.to(["events", id])} close={close}>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="the call" />}
      {value !== undefined && value.call.error_type !== null && (
        <p class="failure">
          <FailedCall call={value.call} />
        </p>
      )}
      {value !== undefined && <Messages messages={[...value.fresh, ...value.output]} />}
    </Peek>
  )
}
