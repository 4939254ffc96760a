/** Says how a call failed, and what the provider said. */
import type { Call } from "../server/Types.ts"
import * as Failure from "../text/Failure.ts"
import { Plain } from "../text/Plain.tsx"

export const FailedCall = ({ call }: { readonly call: Call }) => {
  const meaning = Failure.meaningOf(Failure.statusOf(call))
  return (
    <>
      <b>
        Failed: <Plain text={Failure.ofCall(call)} />
      </b>
      {meaning !== "" && ` (${meaning})`}
      {call.error_message !== null && (
        <>
          {". "}
          <Plain as="span" class="provider-said" text={call.error_message} />
        </>
      )}
    </>
  )
}
