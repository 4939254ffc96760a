/** Writes templates for tests. */
import { TemplateWriter } from "../../src/payload/format/Template.ts"

export const template = (make: (writer: TemplateWriter) => void): Buffer => {
  const writer = new TemplateWriter()
  make(writer)
  writer.end()
  return Buffer.from(writer.out.view())
}

export const text = (literal: string): Buffer => template((writer) => writer.literal(Buffer.from(literal)))
