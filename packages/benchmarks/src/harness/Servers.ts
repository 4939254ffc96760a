/** Servers of ours and of rivals, in processes of their own, and a client that costs little. */
import { Agent, request } from "node:http"
import type { Database } from "./Databases.ts"
import * as Processes from "./Processes.ts"
import * as Recording from "./Recording.ts"

export interface ServerOptions {
  /** False: the payload of every event is one text, compressed by itself. */
  readonly pieces?: boolean
  /** Answers `GET /row` too. */
  readonly row?: boolean
  /** False: every event is a transaction of its own, as many at once as there are connections to the database. */
  readonly groupCommit?: boolean
}

export interface Client {
  readonly post: (path: string, body: Buffer) => Promise<Buffer>
  readonly get: (path: string) => Promise<Buffer>
  readonly put: (path: string, body: object) => Promise<Buffer>
  readonly close: () => void
}

export type Server = Processes.Running & Omit<Client, "close">

/** One request at a time on each of 64 connections; whatever is not answered 200 rejects. */
export const clientOf = (url: string): Client => {
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
  return {
    post: (path, body) => call("POST", path, body),
    get: (path) => call("GET", path),
    put: (path, body) => call("PUT", path, JSON.stringify(body)),
    close: () => agent.destroy()
  }
}

const serverOf = (running: Processes.Running): Server => {
  const { close, ...client } = clientOf(running.url)
  return {
    ...running,
    ...client,
    stop: () => {
      close()
      return running.stop()
    }
  }
}

const startOurs = async (place: string, options: ServerOptions): Promise<Server> => {
  const script = new URL("ServerProcess.ts", import.meta.url)
  const server = serverOf(await Processes.start(script, [place, JSON.stringify(options)]))
  await server.put("/api/v1/fingerprints", Recording.fingerprint)
  return server
}

export const start = ({ place }: Pick<Database, "place">, options: ServerOptions = {}): Promise<Server> =>
  startOurs(place, options)

/** The same routes over nothing: what is decoded is thrown away, or else the storage is a memory that keeps no events. */
export const startWithout = (what: "recorder" | "storage"): Promise<Server> => startOurs(`without ${what}`, {})

/** One of the programs in `rivals/`. */
export const startRival = async (name: string, ...args: ReadonlyArray<string>): Promise<Server> =>
  serverOf(await Processes.start(new URL(`../rivals/${name}.ts`, import.meta.url), args))

/** Sends all bodies, over so many connections. */
export const sendAll = async (server: Pick<Client, "post">, bodies: ReadonlyArray<Buffer>, connections: number) => {
  const waiting = bodies.values()
  const send = async () => {
    for (const body of waiting) await server.post("/api/v1/events", body)
  }
  await Promise.all(Array.from({ length: connections }, send))
}

/** The same run under the name of another session: what warms a server up has to be as long as what is measured. */
export const warmUp = (bodies: ReadonlyArray<Buffer>): ReadonlyArray<Buffer> =>
  bodies.map((body) => Buffer.from(body.toString().replace('"session":"', '"session":"warm-up ')))
