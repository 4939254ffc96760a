/** What somebody does with the packages once they are installed, on a Node of their own. */
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { outside } from "./install.mjs"
import { roundTrip } from "./roundTrip.mjs"
import { run } from "./run.mjs"
import { during, freePort, over, until } from "./servers.mjs"
import { snippet } from "./snippets.mjs"

const programs = fileURLToPath(new URL("programs.md", import.meta.url))
const key = "a key of at least twenty characters"

/** The environment of a process whose `node` is the one that is to be tried. */
const environment = (node) => ({
  ...outside,
  PATH: dirname(node) + delimiter + process.env.PATH,
  TACHOGRAPH_API_KEY: key,
  // What is not installed must not be fetched.
  npm_config_yes: "false"
})

const expectCleanEnd = (what, { code, signal }) => {
  if (code !== 0) throw new Error(`${what} ended with ${code ?? signal} after SIGTERM.`)
}

/** The program that README.md prints below "Embed it", as it is printed. */
export const embed = async (root, folder, node) => {
  writeFileSync(join(folder, "embed.ts"), snippet(join(root, "README.md"), "Embed it"))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const options = { cwd: folder, env: { ...environment(node), PORT: String(port) } }
  const answers = () =>
    fetch(url).then(
      () => true,
      () => undefined
    )
  const ended = await during(node, ["embed.ts"], options, async ({ signal }) => {
    await until(answers, signal)
    await roundTrip(over(url, key))
    const mine = await (await fetch(`${url}/mine`)).text()
    if (!mine.includes("Hello")) throw new Error(`The host's own page became ${mine}`)
  })
  expectCleanEnd("embed.ts", ended)
}

/** An event as API Gateway sends it, payload 2.0. */
const gatewayEvent = (method, path, body) => ({
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

/** A handler that is called as the service calls it. */
export const lambda = async (folder, node) => {
  writeFileSync(join(folder, "lambda.ts"), snippet(programs, "Lambda"))
  const options = { cwd: folder, env: environment(node), stdio: ["ignore", "pipe", "pipe", "ipc"] }
  const ended = await during(node, ["lambda.ts"], options, ({ child }) =>
    roundTrip(async (method, path, body) => {
      child.send(gatewayEvent(method, path, body))
      const [result] = await once(child, "message")
      return {
        status: result.statusCode,
        text: result.isBase64Encoded ? Buffer.from(result.body, "base64").toString() : result.body
      }
    })
  )
  expectCleanEnd("The function", ended)
}

/** The command: what it says of itself, and the server that it starts. */
export const command = async (folder, node, version) => {
  const options = { cwd: folder, env: environment(node) }
  for (const name of ["tachograph", "@tachograph/server"]) {
    const said = await run("npx", [name, "--version"], options)
    if (said !== `tachograph v${version}\n`) throw new Error(`npx ${name} --version says ${said}`)
  }
  const help = await run("npx", ["tachograph", "--help"], options)
  if (!/^ {2}serve /m.test(help)) throw new Error(`npx tachograph --help says\n${help}`)

  // npx keeps a signal to itself and leaves the server behind; so this is the command that it would run.
  const file = join(folder, "node_modules/.bin/tachograph")
  const args = ["serve", "--port", "0", "--storage", "sqlite:command.db"]
  const ended = await during(file, args, options, async ({ said, signal }) => {
    const url = await until(() => /^Tachograph +(http:\S+)$/m.exec(said())?.[1], signal)
    const health = await fetch(`${url}/health`)
    if (health.status !== 200) throw new Error(`/health answers ${health.status}`)
    await roundTrip(over(url, key))
  })
  expectCleanEnd(`tachograph ${args.join(" ")}`, ended)
}
