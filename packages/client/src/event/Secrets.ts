/** Leaves the credentials of a request to a provider out of what is recorded of it. */
import { credentialsOf, inJson, mask, suspectsOf, withSuspects } from "@tachograph/formats/Credentials"

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** The texts that `fetch` may repeat as it refuses them, whatever the header is called. */
const unsendable = (pairs: Pairs): ReadonlyArray<string> =>
  pairs.flatMap(([name, value]) => [
    ...(/^[\w!#$%&'*+.^`|~-]+$/.test(name) ? [] : [name]),
    // It leaves blank ends out.
    ...(/^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? [] : [value, value.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, "")])
  ])

/** `inputs` is the body of the request. */
export const secretsOf = (headers: Pairs, { password, searchParams }: URL, inputs: string): ReadonlyArray<string> =>
  withSuspects(
    credentialsOf(headers, searchParams, [password, decoded(password), ...unsendable(headers)]),
    suspectsOf(headers, searchParams),
    (text) => inputs.includes(text)
  )

/** A JSON text without the credentials. */
export const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.flatMap(inJson).reduce((rest, secret) => rest.replaceAll(secret, mask), text)
