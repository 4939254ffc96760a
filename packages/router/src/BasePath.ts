/** The path below which everything is mounted: with `/tachograph`, `/health` is `/tachograph/health`. */
import * as Context from "effect/Context"

/** Without a trailing slash; empty where everything is mounted at the root. */
export const BasePath = Context.Reference<string>("tachograph/router/BasePath", { defaultValue: () => "" })

/** Unreserved characters only, so that there is one way to write the path. `.` and `..` would be resolved by clients. */
const form = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/

/** `/a/b/` is `/a/b`, `/` is the root. Throws a `TypeError` if it is not such a path. */
export const parse = (path: string): string => {
  const base = path.replace(/\/$/, "")
  if (form.test(base)) return base
  throw new TypeError("basePath: expected a path such as /tachograph, of letters, digits and . _ ~ -")
}

/** The scheme and host of a target in absolute form, as proxies and web requests have it. */
const host = /^https?:\/\/[^/?#]*/i

/** Path and query of a request's target. */
export const targetIn = (target: string): string => (target.startsWith("/") ? target : target.replace(host, ""))

/** The URL below the base; undefined if it is not below it. */
export const below = (base: string, url: string): string | undefined => {
  if (base === "") return url
  return url.startsWith(`${base}/`) ? url.slice(base.length) : undefined
}
