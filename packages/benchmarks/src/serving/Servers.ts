/** The servers that are compared, each with a database of its own that goes with it. */
import * as Databases from "../harness/Databases.ts"
import * as Harness from "../harness/Servers.ts"

export interface Open {
  readonly server: Harness.Server
  readonly close: () => Promise<void>
}

export interface Contender {
  readonly name: string
  readonly open: () => Promise<Open>
}

const opened = async (database: Databases.Database | undefined, start: Promise<Harness.Server>): Promise<Open> => {
  try {
    const server = await start
    const close = async () => {
      await server.stop()
      await database?.remove()
    }
    return { server, close }
  } catch (error) {
    await database?.remove()
    throw error
  }
}

/** Over a database that is made for it. */
export const ours = (name: string, make: () => Databases.Database, options: Harness.ServerOptions = {}): Contender => ({
  name,
  open: () => {
    const database = make()
    return opened(database, Harness.start(database, options))
  }
})

/** Over a database that stays. */
export const oursOver = (name: string, database: Databases.Database): Contender => ({
  name,
  open: () => opened(undefined, Harness.start(database))
})

export const without = (name: string, what: "recorder" | "storage"): Contender => ({
  name,
  open: () => opened(undefined, Harness.startWithout(what))
})

export const rawHttp: Contender = {
  name: "(a) node:http and JSON.parse",
  open: () => opened(undefined, Harness.startRival("RawHttp"))
}

export const httpSqlite: Contender = {
  name: "(b) node:http and node:sqlite",
  open: () => {
    const database = Databases.sqlite()
    return opened(database, Harness.startRival("HttpSqlite", Databases.fileOf(database)))
  }
}

export const fastifyPg = (url: string): Contender => ({
  name: "(c) Fastify and pg",
  open: () => {
    const database = Databases.postgres(url)
    return opened(database, Harness.startRival("FastifyPg", url, Databases.schemaOf(database)))
  }
})

/** Somebody's application, with Tachograph in front of its routes or without. */
export const express = (name: string, mounted: "mounted" | "alone"): Contender => ({
  name,
  open: () => opened(undefined, Harness.startRival("ExpressApp", mounted))
})
