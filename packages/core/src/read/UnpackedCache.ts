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

/** After this time without a read nothing is kept (ms). */
const keptMs = 10_000

interface KeptChain {
  readonly open: OpenChain.OpenChain
  /** The stored packs, one after the other. */
  readonly stored: Buffer
}

interface KeptText {
  readonly stored: Buffer
  readonly text: Buffer
}

/** The first stored bytes of a chain, with the checksum of its first pack. Undefined if that is damaged. */
const keyOf = ([first]: Pack.StoredChain): string | undefined =>
  first?.head === undefined ? undefined : first.bytes.toString("latin1", 0, first.head.end + Pack.checksumBytes)

const isBeginning = ({ open, stored }: KeptChain, chain: Pack.StoredChain): boolean => {
  let at = 0
  return chain.every(({ bytes, number }, index) => {
    const start = at
    at += bytes.length
    return open.packs[index]?.number === number && stored.subarray(start, at).equals(bytes)
  })
}

export class UnpackedCache {
  readonly #chains = new LruCache<string, KeptChain>(cachedChainBytes)
  /** By their names. */
  readonly #texts = new LruCache<string, KeptText>(cachedTextBytes)
  /** The chains that were returned and are kept. */
  readonly #kept = new WeakSet<OpenChain.OpenChain>()
  #expiry: NodeJS.Timeout | undefined

  openChain(chain: Pack.StoredChain): OpenChain.OpenChain {
    this.#extend()
    const key = keyOf(chain)
    const known = key === undefined ? undefined : this.#chains.get(key)
    if (known !== undefined && isBeginning(known, chain)) {
      const { open } = known
      return chain.length === open.packs.length ? open : this.#keep(OpenChain.beginningOf(open, chain.length))
    }
    const open = OpenChain.open(chain)
    if (key === undefined || open.damage !== undefined) return open
    const stored = Buffer.concat(chain.map(({ bytes }) => bytes))
    const bytes = stored.length + OpenChain.bytesOf(open)
    return this.#chains.set(key, { open, stored }, bytes) ? this.#keep(open) : open
  }

  /** A read does not use it any more. */
  closeChain(chain: OpenChain.OpenChain): void {
    if (!this.#kept.has(chain)) OpenChain.free(chain)
  }

  /** As `SharedPiece.textOf`, of the piece of this name. A text that a read frees is not kept. */
  textOf(name: string, bytes: Uint8Array, maxBytes: number): Buffer {
    this.#extend()
    const stored = toBuffer(bytes)
    const known = this.#texts.get(name)
    if (known !== undefined && known.text.length <= maxBytes && known.stored.equals(stored)) return known.text
    const text = SharedPiece.textOf(stored, maxBytes)
    if (!Memory.isFreed(text)) {
      this.#texts.set(name, { stored: Buffer.from(stored), text }, stored.length + text.length)
    }
    return text
  }

  clear(): void {
    clearTimeout(this.#expiry)
    this.#expiry = undefined
    this.#chains.clear()
    this.#texts.clear()
  }

  #keep(chain: OpenChain.OpenChain): OpenChain.OpenChain {
    this.#kept.add(chain)
    return chain
  }

  #extend(): void {
    if (this.#expiry === undefined) this.#expiry = setTimeout(() => this.clear(), keptMs).unref()
    else this.#expiry.refresh()
  }
}
