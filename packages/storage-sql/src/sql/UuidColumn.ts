export * from "../dialect/UuidColumn.ts"
