/**
 * What a signed-in person's cookie holds: a key of the storage, named after them, which every process looks up as it does all keys. So logging
 * out revokes it, everywhere and for copies of the cookie too, and it ends when it expires. It is sealed: outside of the cookie it opens nothing,
 * and no other key opens anything as the cookie.
 */
import { mayBeCrossSite, type SignInKey } from "@tachograph/router"
import * as Redacted from "effect/Redacted"
import * as Cookies from "./Cookies.ts"
import type { Seal } from "./Seal.ts"

interface Session {
  readonly id: string
  readonly key: Redacted.Redacted
}

export const cookieOf = (seal: Seal, { id, key }: Session, lifetimeMs: number): string =>
  Cookies.set(Cookies.session, seal.seal("session", `${id} ${Redacted.value(key)}`), lifetimeMs)

export const read = (seal: Seal, headers: Parameters<typeof Cookies.valueIn>[0]): Session | undefined => {
  const sealed = Cookies.valueIn(headers, Cookies.session)
  const [id, key] = (sealed === undefined ? undefined : seal.open("session", sealed))?.split(" ") ?? []
  return id === undefined || key === undefined ? undefined : { id, key: Redacted.make(key) }
}

/** For the router. */
export const keyIn =
  (seal: Seal): (typeof SignInKey)["Service"] =>
  (request) =>
    mayBeCrossSite(request) ? undefined : read(seal, request.headers)?.key
