/** How a server ends whose signals come from a terminal, a supervisor or npm. */
import { HttpClient } from "@tachograph/testkit"
import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { stall, untilRefused } from "../RawSocket.ts"
import { serve, temporaryFolder } from "../TachographProcess.ts"

const apiKey = "a key to stop servers with"
const env = { TACHOGRAPH_API_KEY: apiKey }

/** The names of the threads of the processes in a group. */
const threadsOf = (group: number): ReadonlyArray<string> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [, , groupOfIt] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
        if (Number(groupOfIt) !== group) return []
        return readdirSync(`/proc/${pid}/task`).map((task) => readFileSync(`/proc/${pid}/task/${task}/comm`, "utf8"))
      } catch {
        return []
      }
    })

it.concurrent.each([
  ["SIGINT", "npm and the server, as a terminal", -1],
  ["SIGTERM", "npm and the server, as systemd", -1],
  ["SIGTERM", "npm", 1]
] as const)("%s to %s sends it is one signal", async (signal, _, sign) => {
  const cwd = temporaryFolder()
  const server = await serve(["--port", "0"], { cwd, env, isByNpm: true })
  const client = HttpClient.open(server.url, apiKey)
  const fingerprint = { language: "typescript", language_version: "7", system: "linux" }
  const { fingerprint_id } = (await client.put("/api/v1/fingerprints", fingerprint)).body
  const properties = { api: "aisdk", inputs: {}, output: {} }
  const event = { event_name: "llm", fingerprint_id, session: "s", properties }
  expect((await client.post("/api/v1/events", event)).status).toBe(200)
  // Read by the thread for reads.
  expect((await client.get("/api/v1/events")).body.events).toHaveLength(1)
  if (process.platform === "linux") expect(threadsOf(server.pid).join("")).toContain("tachograph read")

  process.kill(sign * server.pid, signal)
  const { code, signal: by, stderr } = await server.finished
  expect({ code, by, stderr }).toEqual({ code: 0, by: null, stderr: expect.not.stringContaining("has died") })
  expect(readdirSync(cwd).filter((name) => /-(?:wal|shm)$/.test(name))).toEqual([])
})

it.concurrent("a signal that comes later than a second after the first stops the server at once", async () => {
  const server = await serve(["--port", "0", "--storage", "memory:"], { env })
  const client = await stall(server.url, apiKey)
  void server.stop()
  await untilRefused(server.url)
  void server.stop("SIGINT")
  await sleep(1_100)
  expect(server.isRunning()).toBe(true)
  expect((await server.stop()).code).toBe(1)
  await client.finished
})
