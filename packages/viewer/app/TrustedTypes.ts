/** The one policy of the pages: it lets their own worker be started, and nothing else become script (Trusted Types). */
interface Policy {
  readonly createScriptURL: (url: string) => unknown
}

interface Factory {
  readonly createPolicy: (name: string, rules: { readonly createScriptURL: (url: string) => string }) => Policy
}

const own = (url: string): string => {
  const { origin, protocol } = new URL(url, location.href)
  if (origin === location.origin && protocol.startsWith("http")) return url
  throw new TypeError("A script from elsewhere")
}

const factory = (globalThis as { readonly trustedTypes?: Factory }).trustedTypes
const policy: Policy = factory?.createPolicy("tachograph", { createScriptURL: own }) ?? { createScriptURL: own }

/** What `new Worker` takes. */
export const scriptUrl = ({ href }: URL): unknown => policy.createScriptURL(href)
