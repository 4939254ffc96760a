/** The path under which everything is mounted: `/tachograph` makes `/health` to `/tachograph/health`. */
import { Context } from "effect"

/** Without a slash at its end; empty where the routes are mounted at the root. */
export const BasePath = Context.Reference<string>("tachograph/router/BasePath", { defaultValue: () => "" })

/** What a request can name without percent-encoding, so that there is one way to write it; `.` and `..` are ways up. */
const form = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/

/** `/a/b/` is `/a/b`, `/` is the root. Throws a `TypeError` where it is no path. */
export const parse = (path: string): string => {
  const base = path.replace(/\/$/, "")
  if (form.test(base)) return base
  throw new TypeError("basePath: expected a path such as /tachograph, of letters, digits and . _ ~ -")
}

/** A proxy's form of the target has the host in it. */
const host = /^https?:\/\/[^/?#]*/i

/** Path and query of a request's target. */
export const pathIn = (target: string): string => (target.startsWith("/") ? target : target.replace(host, ""))

/** The URL below the base; undefined where it is not below it. */
export const below = (base: string, url: string): string | undefined =>
  base === "" ? url : url.startsWith(`${base}/`) ? url.slice(base.length) : undefined
