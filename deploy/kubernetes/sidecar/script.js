import http from 'k6/http';

// 200 requests a second for five minutes, whatever the service does.
export const options = {
  scenarios: {
    steady: { executor: 'constant-arrival-rate', rate: 200, timeUnit: '1s', duration: '5m', preAllocatedVUs: 400 },
  },
};

export default function () {
  http.get(__ENV.TARGET);
}
