/** Servers in processes of their own, and a client that costs little. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { fileURLToPath } from "node:url"
import type { Database } from "./Databases.ts"
import * as Recording from "./Recording.ts"

export interface ServerOptions {
  /** False: the payload of every event is one text, compressed by itself. */
  readonly pieces: boolean
  /** Answers `GET /row` too. */
  readonly row?: boolean | undefined
}

/** NaN where the system does not say. */
interface Usage {
  /** Bytes that it has had written to disks. */
  readonly written: number
  /** Milliseconds of all its threads together. */
  readonly cpu: number
}

export interface Server {
  readonly post: (path: string, body: Buffer) => Promise<Buffer>
  readonly get: (path: string) => Promise<Buffer>
  /** What the process has taken so far, as Linux counts it. */
  readonly used: () => Usage
  readonly stop: () => Promise<void>
}

const script = fileURLToPath(new URL("ServerProcess.ts", import.meta.url))

const read = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    return ""
  }
}

/** Linux counts processor time in hundredths of a second. */
const millisecondsOfTick = 10

const usageOf = (pid: number): Usage => {
  const [, written = NaN] = /^write_bytes: (\d+)$/m.exec(read(pid, "io")) ?? []
  // Behind the name, which may hold anything: the 12th and 13th field are ticks in user and in kernel mode.
  const [user = NaN, system = NaN] = read(pid, "stat").split(") ").at(-1)!.split(" ").slice(11, 13)
  return { written: Number(written), cpu: (Number(user) + Number(system)) * millisecondsOfTick }
}

export const start = async ({ place }: Database, options: ServerOptions = { pieces: true }): Promise<Server> => {
  const child = fork(script, [place, JSON.stringify(options)], { stdio: ["ignore", "inherit", "inherit", "ipc"] })
  const ended = once(child, "exit")
  const failed = ended.then(() => {
    throw new Error("A server of the benchmark has ended")
  })
  failed.catch(() => {})
  const [{ url }] = (await Promise.race([once(child, "message"), failed])) as [{ readonly url: string }]
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const call = (method: string, path: string, body?: Buffer | string) =>
    new Promise<Buffer>((resolve, reject) => {
      const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) }
      const outgoing = request(
        new URL(path, url),
        { method, agent, headers: { ...Recording.headers, ...length } },
        (answer) => {
          const chunks: Array<Buffer> = []
          answer.on("data", (chunk: Buffer) => chunks.push(chunk))
          answer.on("error", reject)
          answer.on("end", () => {
            const bytes = Buffer.concat(chunks)
            if (answer.statusCode === 200) resolve(bytes)
            else
              reject(
                new Error(`${method} ${path} was answered ${answer.statusCode}: ${bytes.toString().slice(0, 500)}`)
              )
          })
        }
      )
      outgoing.on("error", reject)
      outgoing.end(body)
    })
  await call("PUT", "/api/v1/fingerprints", JSON.stringify(Recording.fingerprint))
  return {
    post: (path, body) => call("POST", path, body),
    get: (path) => call("GET", path),
    used: () => usageOf(child.pid!),
    stop: async () => {
      agent.destroy()
      if (child.connected) child.disconnect()
      await ended
    }
  }
}
