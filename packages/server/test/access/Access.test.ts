import { HttpClient, RoundTrip } from "@tachograph/testkit"
import { Console, Effect, Option } from "effect"
import { join } from "node:path"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import * as Access from "../../src/access/Access.ts"
import { runInProcess, startServer } from "../CommandLine.ts"
import { temporaryFolder } from "../TachographProcess.ts"

type Given = Partial<Record<keyof typeof Access.flags, string>>

const given = ({ project, storage, url }: Given) => ({
  project: Option.fromNullishOr(project),
  storage: Option.fromNullishOr(storage),
  url: Option.fromNullishOr(url)
})

const env = (name: string, value: string | undefined) => {
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv(name, value)
}

/** The ids of all events. */
const ids = (access: Access.Access) =>
  Effect.map(access.read("listEvents", { limit: 1000 }), ({ events }) => events.map(({ event_id }) => event_id))

const run = <A, E>(options: Given, use: (access: Access.Access) => Effect.Effect<A, E>) =>
  Effect.runPromise(Effect.provideService(Access.use(given(options), Access.reading, use), Console.Console, console))

const messageOf = (options: Given, use: (access: Access.Access) => Effect.Effect<unknown, unknown> = ids) =>
  Effect.runPromise(
    Effect.flip(Access.use(given(options), Access.reading, use)).pipe(Effect.map((error) => (error as Error).message))
  )

/** A server with events, one of another project's keys, and the storage that it has open. */
const served = async () => {
  const storage = `sqlite:${join(temporaryFolder(), "tachograph.db")}`
  const server = await startServer(["--storage", storage, "--thread", "no"])
  const keyOf = async (scope: string) =>
    (await runInProcess(["keys", "create", "--scope", scope, "--storage", storage])).stdout.trim()
  const client = HttpClient.open(server.url, await keyOf("record"))
  const { body } = await client.put("/api/v1/fingerprints", {
    language: "typescript",
    language_version: "7",
    system: "linux"
  })
  await RoundTrip.send(client, RoundTrip.sampleRun(body.fingerprint_id, 5))
  return { server, storage, keyOf }
}

describe("Access", () => {
  it("reads the same from a storage that a server has open as from the server", async () => {
    const { keyOf, server, storage } = await served()
    const inProcess = await run({ storage }, ids)
    expect(inProcess).toHaveLength(5)
    env("TACHOGRAPH_API_KEY", await keyOf("read"))
    expect(await run({ url: server.url }, ids)).toEqual(inProcess)
    expect(await run({ url: `${server.url}/` }, ids)).toEqual(inProcess)
    // As the client, which reads the same variable.
    expect(await run({ url: `${server.url}/api/v1/` }, ids)).toEqual(inProcess)
    // By the variable, which an option for the other one precedes.
    env("TACHOGRAPH_URL", server.url)
    expect(await run({}, ids)).toEqual(inProcess)
    env("TACHOGRAPH_URL", "http://127.0.0.1:1")
    expect(await run({ storage }, ids)).toEqual(inProcess)
  })

  it("says what is wrong with the key, the request, the storage or the server", async () => {
    const { keyOf, server, storage } = await served()
    env("TACHOGRAPH_API_KEY", undefined)
    expect(await messageOf({ url: server.url })).toBe(
      "TACHOGRAPH_API_KEY is missing: set it to one of the server's keys"
    )
    env("TACHOGRAPH_API_KEY", "tg_wrong")
    expect(await messageOf({ url: server.url })).toBe("The server refuses the key in TACHOGRAPH_API_KEY")
    env("TACHOGRAPH_API_KEY", await keyOf("record"))
    expect(await messageOf({ url: server.url })).toBe("The key in TACHOGRAPH_API_KEY lacks the scope read")
    expect(await messageOf({ url: `${server.url}/elsewhere` })).toContain("no such path")
    const wrong = { limit: 0, more: 1 }
    expect(await messageOf({ storage }, ({ read }) => read("listEvents", wrong))).toMatch(
      /^limit: Input should be greater.*; more: Extra inputs/
    )
    expect(await messageOf({ storage }, ({ read }) => read("getAgent", { agent_name: "none" }))).toBe(
      "There is no such agent"
    )
    expect(await messageOf({ storage, project: "none" })).toBe('There is no project "none"')
    env("TACHOGRAPH_API_KEY", "a\nb")
    expect(await messageOf({ url: server.url })).toMatch(/^TACHOGRAPH_API_KEY is no key/)
    await server.stop()
    env("TACHOGRAPH_API_KEY", "tg_wrong")
    // A connection that was open fails otherwise.
    await expect
      .poll(() => messageOf({ url: server.url }))
      .toMatch(/^Cannot read from http:\/\/127.0.0.1:\d+: .*ECONNREFUSED/)
  })

  it.each([
    [{ url: "http://user:secret@host" }, '--url is "http://…": expected a URL'],
    [{ url: "file:///tmp" }, '--url is "file://…": expected a URL'],
    [{ url: "http://host", storage: "sqlite:a.db" }, "--url and --storage exclude each other"],
    [{ url: "http://host", project: "p" }, "--project is of --storage"],
    [{ storage: "memory:" }, "keeps no events"],
    [{ storage: "sqlite:/none/a.db" }, "The storage does not exist"]
  ] as const)("refuses %j", async (options, message) => {
    expect(await messageOf(options)).toContain(message)
  })
})
