/** Brings the index of a session up to date by reading the packs that other processes have appended. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import { ByteReader } from "../payload/format/Bytes.ts"
import * as Join from "../payload/Join.ts"
import { Damage } from "../payload/format/Damage.ts"
import { type LocatedPack, SessionIndex } from "../payload/SessionIndex.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as PackContent from "../payload/format/PackContent.ts"
import * as PackHead from "../payload/format/PackHead.ts"
import type { PackRanges } from "../payload/format/PackRanges.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import * as Template from "../payload/format/Template.ts"
import { type KnownSession, unknownSession } from "./SessionCache.ts"
import type { Storage } from "../Storage.ts"
import type { SessionState } from "../storage/Appending.ts"

type Service = Storage["Service"]

/**
 * Limits on what is read of a long session: its newest packs, up to this many bytes compressed and uncompressed, and this many
 * pieces, of which 0.65 MB stored may have 1.6 million; and the shared texts that they reference. The session cache keeps about as
 * many pieces of one session by default. Values outside these limits are not in the index and are stored again when they recur.
 */
const maxReadBytes = 8 * 1024 * 1024
const maxContentBytes = 32 * 1024 * 1024
const maxPieces = 100_000
const maxSharedBytes = 16 * 1024 * 1024

/** How long packs are opened and indexed before the event loop turns (ms). */
const sliceMs = 5

/** Takes all steps. */
const inSlices = Effect.fnUntraced(function* <A>(steps: Generator<void, A>): Effect.fn.Return<A> {
  let sliceStartedMs = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (performance.now() - sliceStartedMs < sliceMs) continue
    yield* Effect.yieldNow
    sliceStartedMs = performance.now()
  }
})

/** The texts of those shared pieces that are not damaged. */
const readUndamaged = (storage: Service, project: ProjectId, names: ReadonlyArray<Uint8Array>, maxBytes: number) =>
  names.length === 0
    ? Effect.succeed<Join.SharedTexts>(new Map())
    : Effect.map(storage.readShared(project, names, maxBytes), (pieces): Join.SharedTexts => {
        const texts = new Map<string, Buffer>()
        for (const { bytes, sha256 } of pieces) {
          try {
            const text = SharedPiece.textOf(bytes, maxBytes)
            if (SharedPiece.isNamed(sha256, text)) texts.set(Join.keyOf(sha256), text)
          } catch (error) {
            if (!(error instanceof Damage)) throw error
          }
        }
        return texts
      })

/**
 * The current states and indexes of sessions. The index of one that is known is extended if it is of the same session and generation.
 * Damaged packs are left out of it: what is in them is stored again when it recurs.
 */
export const refresh = Effect.fnUntraced(function* (
  storage: Service,
  project: ProjectId,
  sessions: ReadonlyMap<SessionId, KnownSession>
): Effect.fn.Return<ReadonlyMap<SessionId, KnownSession>, StorageUnavailable> {
  const states = yield* storage.getSessions(project, Array.from(sessions.keys()))
  const refreshed = new Map<SessionId, KnownSession>()
  for (const [session, known] of sessions) {
    const state = states.get(session)
    refreshed.set(session, state === undefined ? unknownSession() : yield* follow(storage, project, state, known))
  }
  return refreshed
})

const follow = Effect.fnUntraced(function* (
  storage: Service,
  project: ProjectId,
  state: SessionState,
  known: KnownSession
): Effect.fn.Return<KnownSession, StorageUnavailable> {
  const isSame = known.state?.number === state.number && known.state.generation === state.generation
  const index = isSame ? known.index : new SessionIndex()
  if (index.packs < state.packs) {
    yield* read(storage, project, state, index).pipe(
      // The database itself could not read them.
      Effect.catchCause((cause) =>
        Cause.squash(cause) instanceof Damage
          ? Effect.sync(() => index.read([], new Map(), state))
          : Effect.failCause(cause)
      )
    )
  }
  return { ...known, state: { number: state.number, generation: state.generation }, index }
})

const read = Effect.fnUntraced(function* (
  storage: Service,
  project: ProjectId,
  state: SessionState,
  index: SessionIndex
) {
  // The appended packs may continue the last known chain, and a chain can only be opened from its start.
  const from = index.chain?.start ?? index.packs + 1
  const packs = yield* readOpen(storage, project, state.number, [{ from, to: state.packs }])
  const contents = packs.filter(({ number }) => number > index.packs).map((pack) => pack.contents)
  const olderRanges = index
    .dependenciesOf(contents)
    .flatMap(({ from: start, to }) => (start < from ? [{ from: start, to: Math.min(to, from - 1) }] : []))
  const dependencies = olderRanges.length === 0 ? [] : yield* readOpen(storage, project, state.number, olderRanges)
  const all = [...dependencies, ...packs]
  const names = yield* inSlices(sharedIn(all))
  const texts = yield* readUndamaged(storage, project, names.toReversed(), maxSharedBytes)
  yield* inSlices(index.reading(all, texts, state))
})

/** The newest packs of the ranges, within the limits, that are not damaged. */
const readOpen = (storage: Service, project: ProjectId, session: number, ranges: PackRanges) =>
  Effect.flatMap(storage.readPacks(project, session, ranges, maxReadBytes), (packs) => {
    let bytesLeft = maxContentBytes
    const lastOmitted = packs.findLastIndex(({ bytes }) => (bytesLeft -= PackHead.contentBytesOf(bytes)) < 0)
    return inSlices(openNewest(packs.slice(lastOmitted + 1)))
  })

/** The last chains that have at most `maxPieces`, or the last one. */
function* openNewest(packs: ReadonlyArray<Pack.StoredPack>): Generator<void, ReadonlyArray<LocatedPack>> {
  const newestFirst: Array<ReadonlyArray<LocatedPack>> = []
  let piecesLeft = maxPieces
  for (const chain of Pack.chainsOf(packs).toReversed()) {
    yield
    const open = Pack.openChain(chain).packs
    for (const { content } of open) piecesLeft -= PackContent.addedPieces(content)
    if (piecesLeft < 0 && newestFirst.length > 0) break
    newestFirst.push(open.map((pack) => ({ ...pack, contents: PackContent.read(pack.content) })))
  }
  return newestFirst.reverse().flat()
}

/** The names of the shared pieces within larger pieces: hashing those pieces takes their texts. Yields before each pack. */
function* sharedIn(packs: ReadonlyArray<LocatedPack>): Generator<void, ReadonlyArray<Buffer>> {
  const names = new Map<string, Buffer>()
  const visitor: Template.TemplateVisitor = {
    part: () => {},
    history: () => {},
    shared: (sha256) => names.set(Join.keyOf(sha256), sha256)
  }
  for (const { content, contents } of packs) {
    yield
    for (const { start } of [...contents.history, ...contents.parts]) {
      Template.read(new ByteReader(content, start), visitor)
    }
  }
  return Array.from(names.values())
}
