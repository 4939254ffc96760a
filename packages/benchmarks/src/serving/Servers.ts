/** The servers that are compared, each with its own temporary database. */
import { dirname } from "node:path"
import * as Databases from "../harness/Databases.ts"
import * as Harness from "../harness/Servers.ts"

export interface Open {
  readonly server: Harness.Server
  /** Undefined: the server stores nothing, or in a database that stays. */
  readonly database: Databases.Database | undefined
  readonly close: () => Promise<void>
}

export interface Contender {
  readonly name: string
  readonly open: () => Promise<Open>
}

/** Opens the contender for `use`. */
export const using = async <A>({ open }: Contender, use: (opened: Open) => Promise<A>): Promise<A> => {
  const opened = await open()
  try {
    return await use(opened)
  } finally {
    await opened.close()
  }
}

const openWith = async (database: Databases.Database | undefined, start: Promise<Harness.Server>): Promise<Open> => {
  try {
    const server = await start
    const close = async () => {
      await server.stop()
      await database?.remove()
    }
    return { server, database, close }
  } catch (error) {
    await database?.remove()
    throw error
  }
}

/** Tachograph with a new database. */
export const tachograph = (
  name: string,
  make: () => Databases.Database,
  options: Harness.ServerOptions = {}
): Contender => ({
  name,
  open: () => {
    const database = make()
    return openWith(database, Harness.start(database, options))
  }
})

/** `tachograph serve` with a new database. */
export const served = (name: string, make: () => Databases.Database, options: ReadonlyArray<string>): Contender => ({
  name,
  open: () => {
    const database = make()
    return openWith(database, Harness.serve(database, options))
  }
})

/** Tachograph with an existing database, which is not removed. */
export const tachographOver = (name: string, database: Databases.Database): Contender => ({
  name,
  open: () => openWith(undefined, Harness.start(database))
})

export const withStub = (name: string, stub: "recorder" | "storage"): Contender => ({
  name,
  open: () => openWith(undefined, Harness.startWithStub(stub))
})

export const rawHttp: Contender = {
  name: "(a) node:http and JSON.parse",
  open: () => openWith(undefined, Harness.startBaseline("RawHttp"))
}

export const httpSqlite: Contender = {
  name: "(b) node:http and node:sqlite",
  open: () => {
    const database = Databases.sqlite()
    return openWith(database, Harness.startBaseline("HttpSqlite", Databases.fileOf(database)))
  }
}

export const fastifyPg = (url: string): Contender => ({
  name: "(c) Fastify and pg",
  open: () => {
    const database = Databases.postgres(url)
    return openWith(database, Harness.startBaseline("FastifyPg", url, Databases.schemaOf(database)))
  }
})

/** An Express application, with Tachograph mounted before its routes or without. */
export const express = (name: string, mounted: "mounted" | "alone"): Contender => ({
  name,
  open: () => openWith(undefined, Harness.startBaseline("ExpressApp", mounted))
})

/** A recorder that others make, whose packages are in that folder. It stores in the folder of the database. */
export const peer = (name: string, program: "aigne" | "genkit", packages: string): Contender => ({
  name,
  open: () => {
    const database = Databases.sqlite()
    const folder = dirname(Databases.fileOf(database))
    return openWith(database, Harness.startBaseline("Peer", program, packages, folder))
  }
})
