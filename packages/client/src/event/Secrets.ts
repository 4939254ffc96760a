/** Leaves the credentials of a request to a provider out of what is recorded of it. */
import { credentialsOf, inJson, mask } from "@tachograph/formats/Credentials"

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const secretsOf = (headers: Headers, { password, searchParams }: URL): ReadonlyArray<string> =>
  credentialsOf(headers, searchParams, [password, decoded(password)])

/** A JSON text without the credentials. */
export const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.flatMap(inJson).reduce((rest, secret) => rest.replaceAll(secret, mask), text)
