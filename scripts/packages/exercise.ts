/** Uses the installed packages as their users do: embedded, on Lambda and as a command. */
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { cleanEnvironment } from "./install.ts"
import { type Exit, freePort, poll, sendTo, withProcess } from "./processes.ts"
import { roundTrip } from "./roundTrip.ts"
import { run } from "./run.ts"
import { snippet } from "./snippets.ts"

const programs = fileURLToPath(new URL("programs.md", import.meta.url))
const key = "a key of at least twenty characters"

/** The environment of a process that finds `node` first on its PATH. */
const environment = (node: string): NodeJS.ProcessEnv => ({
  ...cleanEnvironment,
  PATH: dirname(node) + delimiter + process.env["PATH"],
  TACHOGRAPH_API_KEY: key,
  // npx must not download what is not installed.
  npm_config_yes: "false"
})

const expectExitZero = (name: string, { code, signal }: Exit): void => {
  if (code !== 0) throw new Error(`${name} exited with ${code ?? signal} after SIGTERM.`)
}

const isListening = (url: string): Promise<true | undefined> =>
  fetch(url).then(
    () => true,
    () => undefined
  )

/** Runs the program that README.md prints below "Embed it". */
export const embed = async (root: string, folder: string, node: string): Promise<void> => {
  writeFileSync(join(folder, "embed.ts"), snippet(join(root, "README.md"), "Embed it"))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const options = { cwd: folder, env: { ...environment(node), PORT: String(port) } }
  const exit = await withProcess(node, ["embed.ts"], options, async ({ signal }) => {
    await poll(() => isListening(url), signal)
    await roundTrip(sendTo(url, key))
    const page = await (await fetch(`${url}/mine`)).text()
    if (!page.includes("Hello")) throw new Error(`The host's own page is not served: ${page}`)
  })
  expectExitZero("embed.ts", exit)
}

/** An event of API Gateway, payload version 2.0. */
const gatewayEvent = (method: string, path: string, body: string | undefined) => ({
  version: "2.0",
  routeKey: "$default",
  rawPath: path,
  rawQueryString: "",
  headers: { authorization: `Bearer ${key}`, "content-type": "application/json", host: "api.example" },
  requestContext: {
    accountId: "1",
    apiId: "a",
    domainName: "api.example",
    domainPrefix: "api",
    http: { method, path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "check" },
    requestId: "r",
    routeKey: "$default",
    stage: "$default",
    time: "01/Jan/2026:00:00:00 +0000",
    timeEpoch: 1767225600000
  },
  ...(body === undefined ? {} : { body: Buffer.from(body).toString("base64") }),
  isBase64Encoded: body !== undefined
})

interface LambdaResult {
  readonly statusCode: number
  readonly body: string
  readonly isBase64Encoded: boolean
}

/** Runs a Lambda handler in a process of its own and sends it events. */
export const lambda = async (folder: string, node: string): Promise<void> => {
  writeFileSync(join(folder, "lambda.ts"), snippet(programs, "Lambda"))
  const exit = await withProcess(
    node,
    ["lambda.ts"],
    { cwd: folder, env: environment(node), stdio: ["ignore", "pipe", "pipe", "ipc"] },
    ({ child }) =>
      roundTrip(async (method, path, body) => {
        child.send(gatewayEvent(method, path, body))
        const [result] = (await once(child, "message")) as [LambdaResult]
        return {
          status: result.statusCode,
          text: result.isBase64Encoded ? Buffer.from(result.body, "base64").toString() : result.body
        }
      })
  )
  expectExitZero("The Lambda handler", exit)
}

/** Runs the command `tachograph`: its version, its help, and the server that it starts. */
export const command = async (folder: string, node: string, version: string): Promise<void> => {
  const options = { cwd: folder, env: environment(node) }
  for (const name of ["tachograph", "@tachograph/server"]) {
    const output = await run("npx", [name, "--version"], options)
    if (output !== `tachograph v${version}\n`) throw new Error(`npx ${name} --version printed ${output}`)
  }
  const help = await run("npx", ["tachograph", "--help"], options)
  if (!/^ {2}serve /m.test(help)) throw new Error(`npx tachograph --help printed\n${help}`)

  // npx does not forward SIGTERM to the server: run the command that npx would run.
  const file = join(folder, "node_modules/.bin/tachograph")
  const args = ["serve", "--port", "0", "--storage", "sqlite:command.db"]
  const exit = await withProcess(file, args, options, async ({ output, signal }) => {
    const url = await poll(() => /^Tachograph +(http:\S+)$/m.exec(output())?.[1], signal)
    const health = await fetch(`${url}/health`)
    if (health.status !== 200) throw new Error(`/health returned ${health.status}`)
    await roundTrip(sendTo(url, key))
  })
  expectExitZero(`tachograph ${args.join(" ")}`, exit)
}
