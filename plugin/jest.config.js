// force timezone to UTC to allow tests to work regardless of local timezone
// generally used by snapshots, but can affect specific tests
process.env.TZ = 'UTC';

const base = require('./.config/jest.config');
const { grafanaESModules, nodeModulesToTransform } = require('./.config/jest/utils');

module.exports = {
  // Jest configuration provided by Grafana scaffolding
  ...base,
  // Newer d3 packages come as .mjs, which the scaffolding's pattern misses.
  transform: { '^.+\\.m?(t|j)sx?$': base.transform['^.+\\.(t|j)sx?$'] },
  transformIgnorePatterns: [nodeModulesToTransform([...grafanaESModules, '@marcbachmann'])],
};
