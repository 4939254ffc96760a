/**
 * Keeps what was unpacked a moment ago: the events of a session are read one after the other, and each needs most of what the
 * one before needed. What is stored is read each time, and compared byte for byte with what was unpacked, so that damage is
 * found as without the cache, and nothing is used that was changed or erased meanwhile.
 */
import { toBuffer } from "../payload/format/Bytes.ts"
import * as Memory from "../payload/format/Memory.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import { LruCache } from "./LruCache.ts"
import * as OpenChain from "./OpenChain.ts"

const cachedChainBytes = 8 * 1024 * 1024
const cachedTextBytes = 4 * 1024 * 1024

/** Memory of what is kept besides its bytes, approximately. */
const entryBytes = 512

/** After this time without a read nothing is kept (ms). */
const keptMs = 10_000

interface KeptChain {
  readonly open: OpenChain.OpenChain
  /** The packs as they are stored. */
  readonly stored: ReadonlyArray<Buffer>
  /** Reads that use it. */
  uses: number
  /** False when it was dropped: the last read that uses it frees it. */
  isKept: boolean
}

interface KeptText {
  readonly stored: Buffer
  readonly text: Buffer
}

/** The first stored bytes of a chain, with the checksum of its first pack. Undefined if that is damaged. */
const keyOf = ([first]: Pack.StoredChain): string | undefined =>
  first?.head === undefined ? undefined : first.bytes.toString("latin1", 0, first.head.end + Pack.checksumBytes)

const isBeginning = ({ open, stored }: KeptChain, chain: Pack.StoredChain): boolean =>
  chain.every(
    ({ bytes, number }, index) => open.packs[index]?.number === number && stored[index]?.equals(bytes) === true
  )

const freeUnused = ({ isKept, open, uses }: KeptChain): void => {
  if (!isKept && uses === 0) OpenChain.free(open)
}

export class UnpackedCache {
  readonly #chains = new LruCache<string, KeptChain>(cachedChainBytes, (kept) => {
    kept.isKept = false
    freeUnused(kept)
  })
  /** By their names. */
  readonly #texts = new LruCache<string, KeptText>(cachedTextBytes)
  /** What the chains that were returned are of. */
  readonly #used = new WeakMap<OpenChain.OpenChain, KeptChain>()
  #expiry: NodeJS.Timeout | undefined
  #clears = 0

  /** How often it was cleared: a read that began before it was keeps nothing, which may be of before an erasure. */
  get clears(): number {
    return this.#clears
  }

  /** Until `closeChain`. `clears` is that of when the read began. */
  openChain(chain: Pack.StoredChain, clears: number): OpenChain.OpenChain {
    const key = keyOf(chain)
    if (key === undefined || clears !== this.#clears) return OpenChain.open(chain)
    this.#extend()
    const known = this.#chains.get(key)
    if (known !== undefined && isBeginning(known, chain)) {
      const { open } = known
      return this.#use(chain.length === open.packs.length ? open : OpenChain.beginningOf(open, chain.length), known)
    }
    const open = OpenChain.openToKeep(chain)
    const costBytes = entryBytes + chain.reduce((sum, { bytes }) => sum + bytes.length, OpenChain.bytesOf(open))
    if (open.damage !== undefined || !this.#chains.fits(costBytes)) return open
    const stored = Memory.copyOf(chain.map(({ bytes }) => bytes))
    const kept = { open, stored, uses: 0, isKept: true }
    this.#chains.set(key, kept, costBytes)
    return this.#use(open, kept)
  }

  /** A read does not use it any more. */
  closeChain(chain: OpenChain.OpenChain): void {
    const kept = this.#used.get(chain)
    if (kept === undefined) return OpenChain.free(chain)
    kept.uses--
    freeUnused(kept)
  }

  /** As `SharedPiece.textOf`, of the piece of this name. A text that a read frees is not kept. */
  textOf(name: string, bytes: Uint8Array, maxBytes: number, clears: number): Buffer {
    const stored = toBuffer(bytes)
    if (clears !== this.#clears) return SharedPiece.textOf(stored, maxBytes)
    this.#extend()
    const known = this.#texts.get(name)
    if (known !== undefined && known.text.length <= maxBytes && known.stored.equals(stored)) return known.text
    const unpacked = SharedPiece.textOf(stored, maxBytes)
    if (Memory.isFreeable(unpacked)) return unpacked
    const [text, copy] = [Memory.withoutRest([unpacked])[0]!, Memory.copyOf([stored])[0]!]
    this.#texts.set(name, { stored: copy, text }, entryBytes + copy.length + text.length)
    return text
  }

  clear(): void {
    clearTimeout(this.#expiry)
    this.#expiry = undefined
    this.#clears++
    this.#chains.clear()
    this.#texts.clear()
  }

  #use(chain: OpenChain.OpenChain, kept: KeptChain): OpenChain.OpenChain {
    kept.uses++
    this.#used.set(chain, kept)
    return chain
  }

  #extend(): void {
    if (this.#expiry === undefined) this.#expiry = setTimeout(() => this.clear(), keptMs).unref()
    else this.#expiry.refresh()
  }
}
