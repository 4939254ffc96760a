/** Ends what was logged in, where the server can do that: a host has its own way. */
import { useState } from "preact/hooks"
import * as Client from "../server/Client.ts"
import { useAnswer } from "../server/useAnswer.ts"

/** Leads to the page of the provider that ends its part, if it has one. */
const leave = async (logout: string): Promise<void> => {
  const answered = await Client.send(new URL(logout, document.baseURI), { method: "POST" })
  const { location: to } = (await answered.json()) as { readonly location: string | null }
  if (to === null) location.reload()
  else location.assign(to)
}

export const LogOut = () => {
  const [hasFailed, setFailed] = useState(false)
  const { value } = useAnswer((signal) => Client.api.getSignIn({}, { signal }), "sign-in")
  const logout = value?.logout
  if (logout === undefined || logout === null) return null
  return (
    <button type="button" class="quiet" onClick={() => leave(logout).catch(() => setFailed(true))}>
      {hasFailed ? "Log out: try again" : "Log out"}
    </button>
  )
}
