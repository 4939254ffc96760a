/** A chain that is unpacked, and where its templates are. */
import { Damage } from "../payload/format/Damage.ts"
import * as Memory from "../payload/format/Memory.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as PackContent from "../payload/format/PackContent.ts"

/** A chain up to its first damaged pack, with the contents of the packs. */
export interface OpenChain extends Pick<Pack.OpenChain, "packs" | "damage"> {
  readonly contents: ReadonlyArray<PackContent.Contents>
}

const withContents = ({ damage, packs }: Pack.OpenChain): OpenChain => ({
  packs,
  damage,
  contents: packs.map(({ content }) => PackContent.read(content))
})

/** Throws if contents that are not damaged cannot be read. */
export const open = (chain: Pack.StoredChain): OpenChain => withContents(Pack.openChain(chain))

/** The same, with contents that can be kept without other memory. */
export const openToKeep = (chain: Pack.StoredChain): OpenChain => {
  const { packs, ...opened } = Pack.openChain(chain)
  const contents = Memory.withoutRest(packs.map(({ content }) => content))
  return withContents({ ...opened, packs: packs.map((pack, index) => ({ ...pack, content: contents[index]! })) })
}

/** Contents that cannot be read are damage like any other. */
export const openOrDamage = (chain: Pack.StoredChain): OpenChain => {
  try {
    return open(chain)
  } catch (error) {
    return { packs: [], contents: [], damage: Damage.of(error) }
  }
}

/** What opening only the first packs of the chain would give. */
export const beginningOf = (chain: OpenChain, packs: number): OpenChain => ({
  packs: chain.packs.slice(0, packs),
  contents: chain.contents.slice(0, packs),
  damage: chain.packs.length < packs ? chain.damage : undefined
})

/** Memory of one located template, in bytes. */
const spanBytes = 64

/** The memory that it takes, in bytes. */
export const bytesOf = ({ contents, packs }: OpenChain): number => {
  let bytes = 0
  for (const { content } of packs) bytes += content.length
  for (const { history, parts } of contents) bytes += spanBytes * (2 + history.length + parts.length)
  return bytes
}

/** Frees its memory at once, where that is worth it. */
export const free = ({ packs }: OpenChain): void => {
  for (const { content } of packs) Memory.free(content)
}
