import * as SqliteStorage from "./SqliteStorage.ts"

export * as SqliteClient from "./SqliteClient.ts"
export { SqliteStorage }

/** The storage for `createTachograph`: `sqlite("tachograph.db")`. */
export const sqlite = (filename: string) => SqliteStorage.layer({ filename })
