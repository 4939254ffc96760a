/** What the list of sessions shows before anything is recorded. */
import { Record } from "../../record/Record.tsx"
import { api } from "../../server/Client.ts"
import type { Me } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"

export const FirstMinute = ({ me: known, way }: { readonly me: Me; readonly way: string | null }) => {
  // The server may have been started again since, with other options.
  const { value: me = known } = useAnswer((signal) => api.getMe({}, { signal }), "me")
  return (
    <div class="first-minute">
      <h2>Nothing is recorded yet</h2>
      <p class="waiting" role="status">
        <span class="live" /> Waiting for the first call… Its session opens here by itself.
      </p>
      <Record me={me} chosen={way} />
    </div>
  )
}
