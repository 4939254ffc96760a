/** What the headers of a call say of it. */
import * as Grouping from "@tachograph/capture/Grouping"
import * as Credentials from "@tachograph/capture/masking/Credentials"
import { saidBy } from "@tachograph/capture/Programs"
import { nameOf } from "../calls/CallName.ts"
import type { PassedCall } from "../calls/PassedCall.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"

/** The headers that group calls, and the fields of an event that they fill. */
export const groupings = {
  session: "x-tachograph-session",
  agent: "x-tachograph-agent",
  agent_version: "x-tachograph-agent-version",
  person: "x-tachograph-person"
} as const satisfies Partial<Record<keyof Grouping.Grouping, string>>

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

/** What groups a call: Tachograph's headers, else what the program says. An empty header, as of a variable that is not set, is none. */
export const groupingOf = (headers: ForwardedHeaders.RawHeaders): Pick<PassedCall, "grouping" | "program"> => {
  const textOf = (name: string) => {
    const value = ForwardedHeaders.valueOf(headers, name)
    return value === undefined ? undefined : decode(value)
  }
  const said = saidBy(textOf)
  const given = {
    session: textOf(groupings.session),
    agent: textOf(groupings.agent),
    agent_version: textOf(groupings.agent_version),
    person: textOf(groupings.person)
  }
  return { grouping: Grouping.groupingOf(given, said, nameOf), program: said.agent }
}

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
