/** Leaves the credentials of a request to a provider out of what is recorded of it. */
import type { Steps } from "@tachograph/core"
import * as Credentials from "@tachograph/formats/Credentials"

const mask = Buffer.from(Credentials.mask)

/** A JSON text without the secrets. Headers are Latin-1, so a character is a byte. */
export function* without(text: Buffer, secrets: ReadonlyArray<string>): Steps.Steps<Buffer> {
  let rest = text
  for (const secret of secrets.flatMap(Credentials.inJson)) {
    const bytes = Buffer.from(secret, "latin1")
    const parts: Array<Buffer> = []
    let from = 0
    for (let at = rest.indexOf(bytes); at !== -1; at = rest.indexOf(bytes, from)) {
      parts.push(rest.subarray(from, at), mask)
      from = at + bytes.length
    }
    if (from > 0) rest = Buffer.concat([...parts, rest.subarray(from)])
    yield
  }
  return rest
}
