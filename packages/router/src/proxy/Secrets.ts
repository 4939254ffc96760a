/** The credentials of a request, so that none of them gets into an event, wherever a provider repeats it. */
import * as ForwardedHeaders from "./ForwardedHeaders.ts"

const carriers = /^(?:(?:proxy-)?authorization|(?:.*-)?api-key|x-tachograph-key|cookie|.*-token)$/i
const parameters: ReadonlySet<string> = new Set(["key", "access_token", "api_key", "api-key"])

/** A shorter value could be an ordinary word of the payload. */
const shortest = 8

const mask = Buffer.from("[redacted]")

export const secretsOf = (headers: ForwardedHeaders.RawHeaders, rest: string): ReadonlyArray<string> => {
  const values = ForwardedHeaders.pairs(headers).flatMap(([name, value]) =>
    // `Bearer KEY`, `name=value; other=value`
    carriers.test(name) ? [value, ...value.split(/[\s;=]+/)] : []
  )
  const start = rest.indexOf("?")
  const query = start === -1 ? [] : [...new URLSearchParams(rest.slice(start))]
  for (const [name, value] of query) if (parameters.has(name)) values.push(value)
  // The longest first: one may be a part of another.
  return [...new Set(values.filter(({ length }) => length >= shortest))].sort((a, b) => b.length - a.length)
}

/** A JSON text without the secrets. Headers are Latin-1, so a character is a byte. */
export const without = (text: Buffer, secrets: ReadonlyArray<string>): Buffer => {
  let rest = text
  for (const secret of secrets) {
    const inJson = Buffer.from(JSON.stringify(secret).slice(1, -1), "latin1")
    if (!rest.includes(inJson)) continue
    const parts: Array<Buffer> = []
    let from = 0
    for (let at = rest.indexOf(inJson); at !== -1; at = rest.indexOf(inJson, from)) {
      parts.push(rest.subarray(from, at), mask)
      from = at + inJson.length
    }
    rest = Buffer.concat([...parts, rest.subarray(from)])
  }
  return rest
}
