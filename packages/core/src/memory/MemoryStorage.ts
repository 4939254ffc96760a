/** A storage in memory, lost when the process ends. For tests, demonstrations and short-lived tools. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Storage } from "../Storage.ts"
import * as MemoryAppending from "./MemoryAppending.ts"
import * as MemoryDerived from "./MemoryDerived.ts"
import * as MemoryErasing from "./MemoryErasing.ts"
import * as MemoryInventory from "./MemoryInventory.ts"
import * as MemoryKeys from "./MemoryKeys.ts"
import * as MemoryReading from "./MemoryReading.ts"
import * as MemoryResources from "./MemoryResources.ts"
import * as MemoryWaiting from "./MemoryWaiting.ts"
import * as MemorySteps from "./MemorySteps.ts"
import { MemoryProjects } from "./MemoryProjects.ts"

export const layer: Layer.Layer<Storage> = Layer.sync(Storage, () => {
  const projects = new MemoryProjects()
  const leases = new Map<string, { readonly holder: string; readonly until: number }>()
  return Storage.of({
    ...MemoryAppending.make(projects),
    ...MemoryReading.make(projects),
    ...MemoryErasing.make(projects),
    ...MemoryDerived.make(projects),
    ...MemoryInventory.make(projects),
    ...MemoryResources.make(projects),
    ...MemoryKeys.make(projects),
    ...MemoryWaiting.make(projects),
    ...MemorySteps.make(projects),
    takeLease: (name, holder, until) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const lease = leases.get(name)
        const isFree = lease === undefined || lease.holder === holder || lease.until < now
        if (isFree) leases.set(name, { holder, until: until.epochMilliseconds })
        return isFree
      }),
    listProjects: Effect.sync(() => projects.ids),
    ping: Effect.void
  })
})
