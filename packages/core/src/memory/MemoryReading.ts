/** Reads events, packs and pieces. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { EventNotFound } from "../domain/Errors.ts"
import type { Reading } from "../storage/Reading.ts"
import { type MemoryProjects, orFail } from "./MemoryProjects.ts"

export const make = (projects: MemoryProjects): Reading => ({
  watermark: (project) => Effect.map(Clock.currentTimeMillis, (now) => projects.read(project).watermark(now)),
  getEvent: (project, id, maxPackBytes = Number.POSITIVE_INFINITY) =>
    Effect.suspend(() =>
      Effect.map(
        orFail(projects.get(project)?.eventsById.get(id), () => new EventNotFound()),
        ({ checksums, metadata, pack, rules, session, summary }) => {
          const bytes = session.packs.get(pack)?.bytes
          const isLarge = bytes !== undefined && bytes.length > maxPackBytes
          return {
            id,
            summary,
            checksums,
            rules,
            metadata,
            session: session.state.number,
            pack: { number: pack, bytes: isLarge ? undefined : bytes }
          }
        }
      )
    ),
  listEvents: (project, query) => Effect.sync(() => projects.read(project).list(query)),
  findEvents: (project, query, fields, maxLooked) =>
    Effect.sync(() => projects.read(project).find(query, fields, maxLooked)),
  findPacks: (project, query, fields, maxLooked) =>
    Effect.sync(() => {
      const { next, rows } = projects.read(project).find(query, fields, maxLooked)
      return {
        next,
        rows: rows.map(({ id, pack, session, summary: { api, occurredAt, receivedAt } }) => ({
          ...{ id, pack, session: session.state.number, api },
          receivedAtMs: receivedAt.epochMilliseconds,
          occurredAtMs: occurredAt?.epochMilliseconds
        }))
      }
    }),
  getSession: (project, session) => Effect.sync(() => projects.get(project)?.sessions.get(session)?.state),
  getSessions: (project, sessions) =>
    Effect.sync(() => {
      const all = projects.get(project)?.sessions
      return new Map(
        sessions.flatMap((name) => {
          const session = all?.get(name)
          return session === undefined ? [] : [[name, session.state] as const]
        })
      )
    }),
  readPacks: (project, session, ranges, newestBytes) =>
    Effect.sync(() => projects.get(project)?.sessionsByNumber.get(session)?.read(ranges, newestBytes) ?? []),
  readPackRanges: (project, ranges, maxPackBytes) =>
    Effect.sync(() =>
      ranges
        .toSorted((a, b) => a.session - b.session || a.from - b.from)
        .flatMap(({ session: number, ...range }) => {
          const session = projects.get(project)?.sessionsByNumber.get(number)
          return session === undefined ? [] : session.readRange(range, maxPackBytes)
        })
    ),
  readShared: (project, names, maxBytes = Number.POSITIVE_INFINITY) =>
    Effect.sync(() => {
      let bytesLeft = maxBytes
      return names
        .flatMap((name) => projects.get(project)?.shared.get(Buffer.from(name).toString("hex")) ?? [])
        .filter(({ size }) => (bytesLeft -= size) >= 0)
    }),
  sharedTextBytes: (project, name) =>
    Effect.sync(() => projects.get(project)?.shared.get(Buffer.from(name).toString("hex"))?.size)
})
