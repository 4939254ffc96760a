/** `tachograph serve`, as an operator starts it. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { resolve } from "node:path"
import * as Recording from "./Recording.ts"

/** The `main.js` of an installed package. Default: what `npm start` runs, which `scripts/bundle.ts` bundles. */
const installed = process.env["TACHOGRAPH_BENCHMARK_MAIN"]
export const main = installed ?? resolve("node_modules/.cache/tachograph/tachograph.mjs")

/** With a compile cache the server does not compile its modules, which would use memory. */
const cacheVariables = installed === undefined ? { NODE_COMPILE_CACHE: resolve("node_modules/.cache/node") } : {}

export interface Served {
  readonly pid: number
  readonly url: string
  readonly stop: () => Promise<void>
}

export const fillCompileCache = (): void => {
  execFileSync(process.execPath, [main, "--version"], { env: { ...process.env, ...cacheVariables } })
}

export const serve = async (
  storage: string,
  options: ReadonlyArray<string> = [],
  node = process.execPath
): Promise<Served> => {
  const [apiKey = ""] = Recording.apiKeys
  const child = spawn(node, [main, "serve", "--port", "0", "--storage", storage, ...options], {
    env: { ...process.env, ...cacheVariables, TACHOGRAPH_API_KEY: apiKey },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const exited = once(child, "exit")
  const url = await Promise.race([
    new Promise<string>((resolveUrl) => {
      let output = ""
      child.stdout.on("data", (chunk) => {
        const match = /^Tachograph +(\S+)$/m.exec((output += chunk))
        if (match !== null) resolveUrl(match[1]!)
      })
    }),
    exited.then(() => {
      throw new Error(`tachograph serve exited`)
    })
  ])
  const stop = async () => {
    child.kill("SIGTERM")
    await exited
  }
  return { pid: child.pid!, url, stop }
}
