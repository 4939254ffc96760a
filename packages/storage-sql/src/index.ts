export * as Distribution from "./Distribution.ts"
export * as Migrations from "./Migrations.ts"
export * as SqlFailure from "./SqlFailure.ts"
export * as SqlStorage from "./SqlStorage.ts"
