/** Starts Tachograph and the baseline servers as processes, and sends requests with a cheap client. */
import { createReadStream } from "node:fs"
import { Agent, request } from "node:http"
import { setTimeout } from "node:timers/promises"
import { type Database, urlOf } from "./Databases.ts"
import * as Processes from "./Processes.ts"
import * as Recording from "./Recording.ts"
import * as Serve from "./Serve.ts"

export interface ServerOptions {
  /** False: each payload is compressed as a whole, without deduplication. */
  readonly pieces?: boolean
  /** Adds the route `GET /row`. */
  readonly row?: boolean
  /** False: each event is a separate transaction, with as many concurrent transactions as database connections. */
  readonly groupCommit?: boolean
}

export interface Client {
  readonly post: (path: string, body: Buffer) => Promise<Buffer>
  readonly get: (path: string) => Promise<Buffer>
  readonly put: (path: string, body: object) => Promise<Buffer>
  readonly close: () => void
}

export type Server = Processes.Running & Omit<Client, "close">

/** A client with up to 64 connections. Rejects on any status but 200. */
export const clientOf = (url: string): Client => {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const call = (method: string, path: string, body?: Buffer | string) =>
    new Promise<Buffer>((resolve, reject) => {
      const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) }
      const outgoing = request(
        new URL(path, url),
        { method, agent, headers: { ...Recording.headers, ...length } },
        (response) => {
          const chunks: Array<Buffer> = []
          response.on("data", (chunk: Buffer) => chunks.push(chunk))
          response.on("error", reject)
          response.on("end", () => {
            const bytes = Buffer.concat(chunks)
            if (response.statusCode === 200) resolve(bytes)
            else
              reject(
                new Error(
                  `${method} ${path} was answered with ${response.statusCode}: ${bytes.toString().slice(0, 500)}`,
                  { cause: response.statusCode }
                )
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

/** The answer while it comes. `body` is a file to send. Rejects unless the status is 200. */
export const answerTo = (url: string, path: string, body?: string) =>
  new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    const { headers } = Recording
    const outgoing = request(new URL(path, url), { method: body === undefined ? "GET" : "POST", headers }, (response) =>
      response.statusCode === 200 ? resolve(response) : reject(new Error(`${path}: ${response.statusCode}`))
    ).on("error", reject)
    if (body === undefined) outgoing.end()
    else createReadStream(body).pipe(outgoing)
  })

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

const startTachograph = async (address: string, options: ServerOptions): Promise<Server> => {
  const script = new URL("ServerProcess.ts", import.meta.url)
  const server = serverOf(await Processes.start(script, [address, JSON.stringify(options)]))
  await server.put("/api/v1/fingerprints", Recording.fingerprint)
  return server
}

export const start = ({ address }: Pick<Database, "address">, options: ServerOptions = {}): Promise<Server> =>
  startTachograph(address, options)

/** `tachograph serve`, whose engine has a thread of its own. */
export const serve = async (database: Database, options: ReadonlyArray<string>): Promise<Server> => {
  const { pid, stop, url } = await Serve.serve(urlOf(database), options)
  const server = serverOf({ url, stop, usage: () => Processes.usageOf(pid) })
  await server.put("/api/v1/fingerprints", Recording.fingerprint)
  return server
}

/** Tachograph with a stub: a recorder that discards each decoded event, or a storage that discards each batch. */
export const startWithStub = (stub: "recorder" | "storage"): Promise<Server> => startTachograph(`stub ${stub}`, {})

/** Starts a program in `baselines/`. */
export const startBaseline = async (name: string, ...args: ReadonlyArray<string>): Promise<Server> =>
  serverOf(await Processes.start(new URL(`../baselines/${name}.ts`, import.meta.url), args))

/** An Express application that records into a file of SQLite. */
export const startHost = async (file: string, wrapper: ReadonlyArray<string>): Promise<Server> => {
  const script = new URL("../baselines/ExpressApp.ts", import.meta.url)
  const server = serverOf(await Processes.start(script, ["mounted", file], wrapper))
  await server.put("/api/v1/fingerprints", Recording.fingerprint)
  return server
}

/** How long an event that was refused for overload waits until it is sent again (ms). */
const refusedMs = 100

const isTaken = (answer: Promise<Buffer>): Promise<boolean> =>
  answer.then(
    () => true,
    (error: Error) => {
      if (error.cause === 503) return false
      throw error
    }
  )

/** Sends all bodies over `connections` connections. */
export const sendAll = async (
  server: Pick<Client, "post">,
  bodies: ReadonlyArray<Buffer>,
  connections: number,
  path = "/api/v1/events"
) => {
  const remaining = bodies.values()
  const send = async () => {
    for (const body of remaining) {
      while (!(await isTaken(server.post(path, body)))) await setTimeout(refusedMs)
    }
  }
  await Promise.all(Array.from({ length: connections }, send))
}

/** The same run under other session names, to warm up a server with as many events as are measured. */
export const warmUpBodies = (bodies: ReadonlyArray<Buffer>): ReadonlyArray<Buffer> =>
  bodies.map((body) => Buffer.from(body.toString().replace('"session":"', '"session":"warm-up ')))
