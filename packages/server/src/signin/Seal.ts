/**
 * Texts that only the servers with the same client secret can make and read, for cookies. So every process and every restart knows the
 * cookies of the others, and nothing is stored for somebody who only begins to sign in.
 */
import * as Redacted from "effect/Redacted"
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

const ivBytes = 12
const tagBytes = 16

/** `purpose` binds a text to its use: that of one cookie opens nothing as another. */
export interface Seal {
  readonly seal: (purpose: string, text: string) => string
  /** Undefined for what was not sealed here for this purpose, or was altered. */
  readonly open: (purpose: string, sealed: string) => string | undefined
}

export const make = (secret: Redacted.Redacted): Seal => {
  const key = Buffer.from(hkdfSync("sha256", Redacted.value(secret), "", "tachograph sign-in 1", 32))
  return {
    seal: (purpose, text) => {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(purpose))
      const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString("base64url")
    },
    open: (purpose, sealed) => {
      const bytes = Buffer.from(sealed, "base64url")
      if (bytes.length < ivBytes + tagBytes) return undefined
      const [iv, tag] = [bytes.subarray(0, ivBytes), bytes.subarray(ivBytes, ivBytes + tagBytes)]
      const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes }).setAAD(
        Buffer.from(purpose)
      )
      decipher.setAuthTag(tag)
      try {
        return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString()
      } catch {
        return undefined
      }
    }
  }
}
