/** Ends what was logged in, where the server can do that: a host has its own way. */
import { useState } from "preact/hooks"
import * as Client from "../server/Client.ts"
import { useAnswer } from "../server/useAnswer.ts"
import { Plain } from "../text/Plain.tsx"

/** Leads to the page of the provider that ends its part, if it has one. */
const leave = async (logout: string): Promise<void> => {
  const answered = await Client.send(new URL(logout, document.baseURI), { method: "POST" })
  const { location: to } = (await answered.json()) as { readonly location: string | null }
  if (to === null) location.reload()
  else location.assign(to)
}

export const LogOut = ({ actor }: { readonly actor: string }) => {
  const [hasFailed, setFailed] = useState(false)
  const { value } = useAnswer((signal) => Client.api.getSignIn({}, { signal }), "sign-in")
  const logout = value?.logout
  if (logout === undefined || logout === null) return <p class="hint">You see what your login opens.</p>
  return (
    <>
      <p class="hint">
        You are signed in as <Plain text={actor} />, and see what your groups open.
      </p>
      <button type="button" onClick={() => leave(logout).catch(() => setFailed(true))}>
        {hasFailed ? "Log out: try again" : "Log out"}
      </button>
    </>
  )
}
