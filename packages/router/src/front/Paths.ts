/** The paths that there are, out of the contract, and the methods that each of them takes. */
import { prefix, TachographApi } from "@tachograph/api"
import { HttpApi } from "effect/http-api"

/** In the order of the alphabet, as `Allow` lists them. */
type Methods = ReadonlyArray<string>

const known = (() => {
  const methodsByPath = new Map<string, Set<string>>([
    ["/docs", new Set(["GET"])],
    ["/openapi.json", new Set(["GET"])]
  ])
  HttpApi.reflect(TachographApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const methods = methodsByPath.get(endpoint.path) ?? new Set()
      methodsByPath.set(endpoint.path, methods.add(endpoint.method))
    }
  })
  const literal = new Map<string, Methods>()
  const patterns: Array<readonly [pattern: RegExp, methods: Methods]> = []
  for (const [path, own] of methodsByPath) {
    const methods = [...own, "OPTIONS", ...(own.has("GET") ? ["HEAD"] : [])].sort()
    const pattern = path.replace(/:\w+/g, "[^/]*")
    if (pattern === path) literal.set(path, methods)
    else patterns.push([new RegExp(`^${pattern}$`), methods])
  }
  return { literal, patterns }
})()

const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
}

/** The methods that the path of a URL takes; undefined where there is no such path. */
export const methodsOf = (url: string): Methods | undefined => {
  const path = pathOf(url)
  const methods = known.literal.get(path)
  // Whoever is mounted in front of others is asked of all their paths.
  if (methods !== undefined || !path.startsWith(prefix)) return methods
  return known.patterns.find(([pattern]) => pattern.test(path))?.[1]
}

/** The router would cut a path at `;` and `#`; in a name they are characters like others. */
export const toTheLetter = (url: string): string => {
  const path = pathOf(url)
  return path.replaceAll(";", "%3B").replaceAll("#", "%23") + url.slice(path.length)
}
