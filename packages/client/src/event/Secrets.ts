/** The credentials of a call to a provider, which are left out of what is recorded of it. */
import {
  credentialsOf,
  looksRandom,
  parametersOf,
  suspectsOf,
  withSuspects
} from "@tachograph/capture/masking/Credentials"
import { decodedOrSame } from "@tachograph/capture/PercentDecoding"

export type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** The texts that `fetch` may repeat as it refuses them, whatever the header is called. */
const unsendable = (pairs: Pairs): ReadonlyArray<string> =>
  pairs.flatMap(([name, value]) => [
    ...(/^[\w!#$%&'*+.^`|~-]+$/.test(name) ? [] : [name]),
    // It leaves blank ends out.
    ...(/^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? [] : [value, value.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, "")])
  ])

/** What may hold a credential, of a call however it is told. */
export interface Told {
  readonly headers: Pairs
  /** Where the call went. */
  readonly addresses: ReadonlyArray<URL>
  /** Credentials from elsewhere, and what may be one. */
  readonly credentials?: ReadonlyArray<string>
  readonly suspects?: ReadonlyArray<string>
}

/** What is masked in an event, the longest first: one rule for the tap and the telemetry. `inputs` is the body of the request. */
export const secretsOf = (
  { addresses, credentials = [], headers, suspects = [] }: Told,
  inputs: string
): ReadonlyArray<string> => {
  const queries = addresses.flatMap(({ search }) => parametersOf(search.slice(1)))
  const passwords = addresses.flatMap(({ password, username }) =>
    [password, password === "" || looksRandom(username) ? username : ""].flatMap((text) => [text, decodedOrSame(text)])
  )
  return withSuspects(
    credentialsOf(headers, queries, [...credentials, ...passwords, ...unsendable(headers)]),
    [...suspects, ...suspectsOf(headers, queries)],
    (text) => inputs.includes(text)
  )
}
