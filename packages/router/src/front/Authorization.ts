/** Reads the credential of a request, and compares scopes. `Authorizer` finds the principal of a credential. */
import type { Scope } from "@tachograph/core"
import * as Redacted from "effect/Redacted"

const scheme = "Bearer "

/** The credential of an `Authorization` header; empty where there is none of the scheme `Bearer`. */
export const credentialIn = (header = ""): Redacted.Redacted =>
  Redacted.make(header.startsWith(scheme) && header[scheme.length] !== " " ? header.slice(scheme.length) : "")

/** Whether a key with the scopes `held` opens an endpoint that allows `allowed`. */
export const opens = (held: ReadonlyArray<Scope>, allowed: ReadonlyArray<Scope>): boolean =>
  held.includes("admin") || allowed.some((scope) => held.includes(scope))
