/** Reads the credential of a request, and compares scopes. `Authorizer` finds the principal of a credential. */
import type { Scope } from "@tachograph/core"
import * as Redacted from "effect/Redacted"

const scheme = "Bearer "

/** The credential of an `Authorization` header; empty where there is none of the scheme `Bearer`. */
export const credentialIn = (header = ""): Redacted.Redacted =>
  Redacted.make(header.startsWith(scheme) && header[scheme.length] !== " " ? header.slice(scheme.length) : "")

/** The same, or the password of the scheme `Basic`. */
export const credentialOrPasswordIn = (header = ""): Redacted.Redacted => {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/.exec(header) ?? []
  if (encoded === undefined) return credentialIn(header)
  const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? []
  return Redacted.make(password)
}

/** Whether a key with the scopes `held` opens an endpoint that allows `allowed`. */
export const opens = (held: ReadonlyArray<Scope>, allowed: ReadonlyArray<Scope>): boolean =>
  held.includes("admin") || allowed.some((scope) => held.includes(scope))
