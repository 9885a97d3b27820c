/** The test of the chart itself: a pod with the command line creates a run and fails unless it completes. */
export const helmTest = {
  name: 'helm-test',
  async prove({ release }) {
    await release.test();
    return 'the run of the chart’s test completed';
  },
};
