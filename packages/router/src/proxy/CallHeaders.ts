/** What the headers of a call say of it. */
import * as Credentials from "@tachograph/formats/Credentials"
import { allowed, isTooLong, shortened } from "@tachograph/formats/Names"
import { hash } from "node:crypto"
import type { Grouping, PassedCall } from "../calls/PassedCall.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"

/** The headers that group calls, and the fields of an event that they fill. */
export const groupings = {
  session: "x-tachograph-session",
  agent: "x-tachograph-agent",
  agent_version: "x-tachograph-agent-version",
  person: "x-tachograph-person"
} as const satisfies Record<keyof Grouping, string>

const fieldsOfGroupings = Object.entries(groupings)

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Headers arrive as Latin-1. Clients that can send other characters send them as UTF-8, maybe with a byte order mark. */
const decode = (value: string): string => {
  // ASCII is the same in both.
  if (/^[\0-\x7f]*$/.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, "latin1"))
  } catch {
    return value
  }
}

/** A name as an event may have it. */
const nameOf = (given: string): string => {
  const text = allowed(given)
  return isTooLong(text) ? shortened(text, hash("sha256", text)) : text
}

/** An empty header, as of an environment variable that is not set, is none, also where it has a byte order mark. */
export const groupingOf = (headers: ForwardedHeaders.RawHeaders): Grouping =>
  Object.fromEntries(
    fieldsOfGroupings.flatMap(([field, name]) => {
      const value = ForwardedHeaders.valueOf(headers, name)
      const text = value === undefined ? "" : decode(value)
      return text === "" ? [] : [[field, nameOf(text)]]
    })
  )

/** What a request has of credentials, the longest first, and what may be one. */
export const secretsOf = (
  headers: ForwardedHeaders.RawHeaders,
  rest: string
): Pick<PassedCall, "credentials" | "suspects"> => {
  const pairs = ForwardedHeaders.pairs(headers)
  const [, query = ""] = rest.split(/\?(.*)/s)
  const parameters = Credentials.parametersOf(query)
  return {
    credentials: Credentials.credentialsOf(pairs, parameters),
    suspects: Credentials.suspectsOf(pairs, parameters)
  }
}

export const betaOf = (headers: ForwardedHeaders.RawHeaders): string | undefined =>
  ForwardedHeaders.listOf(headers, "anthropic-beta")
