/** Values that the cases of `StorageSuite` share. */
import { AgentName, ProjectId, type Storage } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"

/** Defines a case with an empty storage of its own. */
export type Test = (title: string, body: (storage: Storage["Service"]) => Effect.Effect<unknown, unknown>) => void

export const other = ProjectId.make("other")
export const bot = AgentName.make("bot")
export const now = DateTime.makeUnsafe("2026-01-02T03:04:05.678Z")
export const later = DateTime.makeUnsafe("2026-01-03T00:00:00.000Z")

export const tagOf = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)
