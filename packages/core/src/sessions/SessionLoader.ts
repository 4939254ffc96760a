/** Brings the index of a session up to date by reading the packs that other processes have appended. */
import { Effect } from "effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import { ByteReader } from "../payload/format/Bytes.ts"
import * as Join from "../payload/Join.ts"
import { SessionIndex } from "../payload/SessionIndex.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as PackContent from "../payload/format/PackContent.ts"
import * as PackHead from "../payload/format/PackHead.ts"
import type { PackRanges } from "../payload/format/PackRanges.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import * as Template from "../payload/format/Template.ts"
import { type KnownSession, unknownSession } from "./SessionCache.ts"
import type { SessionState, Storage } from "../Storage.ts"

type Service = Storage["Service"]

/**
 * Limits on what is read of a long session: its newest packs, up to this many bytes compressed and uncompressed, and the
 * shared texts that they reference. Values outside these limits are not in the index and are stored again when they recur.
 */
const maxReadBytes = 8 * 1024 * 1024
const maxContentBytes = 32 * 1024 * 1024
const maxSharedBytes = 16 * 1024 * 1024

/** The texts of shared pieces. `maxBytes` is passed to `Storage.readShared`. */
export const readShared = (storage: Service, project: ProjectId, names: ReadonlyArray<Uint8Array>, maxBytes?: number) =>
  names.length === 0
    ? Effect.succeed<Join.SharedTexts>(new Map())
    : Effect.map(
        storage.readShared(project, names, maxBytes),
        (pieces): Join.SharedTexts =>
          new Map(pieces.map(({ bytes, sha256 }) => [Join.keyOf(sha256), SharedPiece.textOf(bytes)] as const))
      )

/** The session's current state and index. The index of `known` is extended if it is of the same session and generation. */
export const refresh = Effect.fnUntraced(function* (
  storage: Service,
  project: ProjectId,
  session: SessionId,
  known: KnownSession
): Effect.fn.Return<KnownSession, StorageUnavailable> {
  const state = yield* storage.getSession(project, session)
  if (state === undefined) return unknownSession()
  const isSame = known.state?.number === state.number && known.state.generation === state.generation
  const index = isSame ? known.index : new SessionIndex()
  if (index.packs < state.packs) yield* read(storage, project, state, index)
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
  const packs = yield* readOpen(storage, project, state.number, [{ from, to: state.packs }], maxReadBytes)
  const contents = packs.filter(({ number }) => number > index.packs).map(({ content }) => PackContent.read(content))
  const olderRanges = index
    .dependenciesOf(contents)
    .flatMap(({ from: start, to }) => (start < from ? [{ from: start, to: Math.min(to, from - 1) }] : []))
  const dependencies = olderRanges.length === 0 ? [] : yield* readOpen(storage, project, state.number, olderRanges)
  const all = [...dependencies, ...packs]
  const texts = yield* readShared(storage, project, sharedIn(all).toReversed(), maxSharedBytes)
  index.read(all, texts, state)
})

const readOpen = (storage: Service, project: ProjectId, session: number, ranges: PackRanges, newestBytes?: number) =>
  Effect.map(storage.readPacks(project, session, ranges, newestBytes), (packs) => {
    let bytesLeft = maxContentBytes
    const lastOmitted = packs.findLastIndex(
      (pack) => (bytesLeft -= PackHead.read(pack.number, pack.bytes).contentLength) < 0
    )
    return Pack.open(packs.slice(lastOmitted + 1))
  })

/** The names of the shared pieces within larger pieces: hashing those pieces takes their texts. */
const sharedIn = (packs: ReadonlyArray<Pack.OpenPack>): ReadonlyArray<Buffer> => {
  const names = new Map<string, Buffer>()
  const visitor: Template.TemplateVisitor = {
    part: () => {},
    history: () => {},
    shared: (sha256) => names.set(Join.keyOf(sha256), sha256)
  }
  for (const { content } of packs) {
    const { history, parts } = PackContent.read(content)
    for (const { start } of [...history, ...parts]) Template.read(new ByteReader(content, start), visitor)
  }
  return Array.from(names.values())
}
