/** The paths that there are, out of the contract, and the methods that each of them takes. */
import { TachographApi } from "@tachograph/api"
import { HttpApi } from "effect/http-api"

interface KnownPath {
  readonly pattern: RegExp
  /** In the order of the alphabet, as `Allow` lists them. */
  readonly methods: ReadonlyArray<string>
}

const known: ReadonlyArray<KnownPath> = (() => {
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
  return Array.from(methodsByPath, ([path, own]) => ({
    pattern: new RegExp(`^${path.replace(/:\w+/g, "[^/]*")}$`),
    methods: [...own, "OPTIONS", ...(own.has("GET") ? ["HEAD"] : [])].sort()
  }))
})()

const pathOf = (url: string): string => url.split("?", 1)[0]!

/** The methods that the path of a URL takes; undefined where there is no such path. */
export const methodsOf = (url: string): ReadonlyArray<string> | undefined => {
  const path = pathOf(url)
  return known.find(({ pattern }) => pattern.test(path))?.methods
}

/** The router would cut a path at `;` and `#`; in a name they are characters like others. */
export const toTheLetter = (url: string): string => {
  const path = pathOf(url)
  return path.replaceAll(";", "%3B").replaceAll("#", "%23") + url.slice(path.length)
}
