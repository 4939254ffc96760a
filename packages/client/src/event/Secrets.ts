/** The credentials of a request to a provider, so that none of them gets into an event, wherever a provider repeats it. */

const carriers = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization"]

/** A shorter value could be an ordinary word of the payload. */
const shortest = 8

/** What stands for a credential. */
const mask = "[redacted]"

/** The values of credentials in the headers and the query of a request. */
export const secretsOf = (headers: Headers, url: URL): ReadonlyArray<string> => {
  const values = carriers.flatMap((name) => {
    const value = headers.get(name)
    if (value === null) return []
    // `Bearer KEY`, `name=value; other=value`
    return [value, ...value.split(/[\s;=]+/)]
  })
  const query = ["key", "access_token", "api_key", "api-key"].flatMap((name) => url.searchParams.getAll(name))
  const all = [...values, ...query, decodeURIComponent(url.password)].filter((value) => value.length >= shortest)
  // The longest first: one may be a part of another.
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

/** A JSON text without the credentials. */
export const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.reduce((rest, secret) => {
    const inJson = JSON.stringify(secret).slice(1, -1)
    return rest.includes(inJson) ? rest.replaceAll(inJson, mask) : rest
  }, text)
